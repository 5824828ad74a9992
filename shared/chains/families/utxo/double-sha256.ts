import { hash } from 'node:crypto'

/** SHA-256 of SHA-256, which identifies blocks, transactions and Merkle nodes. In the byte order of the wire. */
export function doubleSha256(bytes: Buffer): Buffer {
  return hash('sha256', hash('sha256', bytes, 'buffer'), 'buffer')
}

/** A hash as displayed and used in RPC: the wire's bytes from last to first, lower-case hex. */
export function hashText(wire: Buffer): string {
  return Buffer.from(wire).reverse().toString('hex')
}
