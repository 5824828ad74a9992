import { NodeUnreliable } from '#shared/ports/scanning.ts'

/** Reads the wire format of Bitcoin and its relatives from front to back. Every method throws `NodeUnreliable` past the end. */
export interface ByteReader {
  /** The position of the next byte, for `since`. */
  mark(): number
  /** The bytes from a marked position to here, without a copy. */
  since(mark: number): Buffer
  readonly remaining: number
  byte(): number
  /** Unsigned, little-endian. */
  uint32(): number
  /** Unsigned, little-endian, exact. */
  uint64(): bigint
  /** A CompactSize number of items that take at least `bytesEach` bytes each: never more than the rest can hold. */
  count(bytesEach: number): number
  /** The next bytes without a copy. */
  take(length: number): Buffer
  skip(length: number): void
}

/** A reader at the first of the bytes. */
export function createByteReader(bytes: Buffer): ByteReader {
  let offset = 0

  function advance(length: number): number {
    const at = offset
    if (length > bytes.length - at) throw new NodeUnreliable('the node gave fewer bytes than it announced')
    offset = at + length
    return at
  }

  function compactSize(): number {
    const first = bytes.readUInt8(advance(1))
    if (first < 0xfd) return first
    if (first === 0xfd) return bytes.readUInt16LE(advance(2))
    if (first === 0xfe) return bytes.readUInt32LE(advance(4))
    throw new NodeUnreliable('the node announced more than a block can hold')
  }

  return {
    mark: () => offset,
    since: (mark) => bytes.subarray(mark, offset),
    get remaining() {
      return bytes.length - offset
    },
    byte: () => bytes.readUInt8(advance(1)),
    uint32: () => bytes.readUInt32LE(advance(4)),
    uint64: () => bytes.readBigUInt64LE(advance(8)),
    count(bytesEach) {
      const count = compactSize()
      if (count * bytesEach > bytes.length - offset) {
        throw new NodeUnreliable('the node announced more than its answer holds')
      }
      return count
    },
    take(length) {
      const at = advance(length)
      return bytes.subarray(at, at + length)
    },
    skip: (length) => void advance(length),
  }
}

/** Bytes of hex text. Throws `NodeUnreliable` when it is not hex. */
export function bytesOfHex(hex: string): Buffer {
  const bytes = Buffer.from(hex, 'hex')
  if (bytes.length * 2 !== hex.length) throw new NodeUnreliable('the node gave something other than hex')
  return bytes
}
