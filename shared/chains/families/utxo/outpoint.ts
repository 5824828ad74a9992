import { hashText } from './double-sha256.ts'

/** Bytes of an outpoint on the wire: transaction hash, output index. */
export const OUTPOINT_BYTES = 36

/** `<txid>:<vout>` of an outpoint on the wire. */
export function outpointText(wire: Buffer): string {
  return `${hashText(wire.subarray(0, 32))}:${wire.readUInt32LE(32)}`
}

/** The outpoints `<txid>:<vout>` by their hex on the wire, so that inputs are compared without turning each into text. */
export function outpointsByWire(outpoints: ReadonlySet<string>): ReadonlyMap<string, string> {
  return new Map(
    [...outpoints].map((text) => {
      const [txid = '', vout] = text.split(':')
      const wire = Buffer.alloc(OUTPOINT_BYTES)
      Buffer.from(txid, 'hex').reverse().copy(wire)
      wire.writeUInt32LE(Number(vout), 32)
      return [wire.toString('hex'), text]
    }),
  )
}
