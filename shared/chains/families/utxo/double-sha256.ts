import { hash } from 'node:crypto'

/** SHA-256 of SHA-256, by which blocks, transactions and Merkle nodes are identified. In the byte order of the wire. */
export function doubleSha256(bytes: Buffer): Buffer {
  return hash('sha256', hash('sha256', bytes, 'buffer'), 'buffer')
}

/** A hash as people and RPC write it: the wire's bytes from last to first, lower-case hex. */
export function hashText(wire: Buffer): string {
  return Buffer.from(wire).reverse().toString('hex')
}
