/** Concatenated fields of one protocol buffer message; fields that are 0 or empty are left out (proto3). */
export type Field = readonly [number, bigint | Uint8Array]

const VARINT = 0n
const LENGTH_DELIMITED = 2n

/** Encodes a message: a bigint becomes a varint (int64, enum), bytes become a length-delimited field. Order is kept. */
export function encodeMessage(fields: readonly Field[]): Uint8Array {
  return Buffer.concat(
    fields.flatMap(([number, value]) => {
      const tag = BigInt(number) << 3n
      if (typeof value === 'bigint') return value === 0n ? [] : [varint(tag | VARINT), varint(value)]
      return value.length === 0 ? [] : [varint(tag | LENGTH_DELIMITED), varint(BigInt(value.length)), value]
    }),
  )
}

function varint(value: bigint): Uint8Array {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, value)
  do {
    const low = Number(rest & 0x7fn)
    rest >>= 7n
    bytes.push(rest === 0n ? low : low | 0x80)
  } while (rest !== 0n)
  return Uint8Array.from(bytes)
}
