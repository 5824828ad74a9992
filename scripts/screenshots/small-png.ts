import { writeFileSync } from 'node:fs'
import { deflateSync, inflateSync } from 'node:zlib'

const COLOURS = 256
const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')

/** Writes a picture of a page with at most 256 colours, a third of its size, and returns the bytes of the file. Pages have few colours. */
export function smallPng(png: Buffer, file: string): number {
  const { width, height, pixels, channels } = decode(png)
  const palette = paletteOf(pixels, channels)
  const nearest = createNearest(palette)
  const rows = Buffer.alloc((width + 1) * height)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      rows[y * (width + 1) + 1 + x] = nearest(colourAt(pixels, (y * width + x) * channels))
    }
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 3, 0, 0, 0], 8)
  const colours = Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]))
  const small = Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', colours),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
  writeFileSync(file, small)
  return small.length
}

const at = (bytes: Uint8Array, index: number): number => bytes[index] ?? 0

function colourAt(pixels: Uint8Array, index: number): number {
  return (at(pixels, index) << 16) | (at(pixels, index + 1) << 8) | at(pixels, index + 2)
}

/** The colours that most pixels have. */
function paletteOf(pixels: Uint8Array, channels: number): readonly number[] {
  const counts = new Map<number, number>()
  for (let index = 0; index < pixels.length; index += channels) {
    const colour = colourAt(pixels, index)
    counts.set(colour, (counts.get(colour) ?? 0) + 1)
  }
  const ranked = [...counts].sort(([, one], [, other]) => other - one)
  return ranked.slice(0, COLOURS).map(([colour]) => colour)
}

function createNearest(palette: readonly number[]): (colour: number) => number {
  const known = new Map(palette.map((colour, index) => [colour, index]))
  return (colour) => {
    const found = known.get(colour)
    if (found !== undefined) return found
    let best = 0
    let least = Number.POSITIVE_INFINITY
    palette.forEach((candidate, index) => {
      const red = (candidate >> 16) - (colour >> 16)
      const green = ((candidate >> 8) & 255) - ((colour >> 8) & 255)
      const blue = (candidate & 255) - (colour & 255)
      const distance = red * red + green * green + blue * blue
      if (distance < least) {
        least = distance
        best = index
      }
    })
    known.set(colour, best)
    return best
  }
}

/** Reads what Chromium writes: eight bits, colour with or without alpha, not interlaced (PNG specification, W3C, §9 and §11). */
function decode(png: Buffer) {
  let header: Buffer | null = null
  const parts: Buffer[] = []
  for (let offset = SIGNATURE.length; offset < png.length; ) {
    const length = png.readUInt32BE(offset)
    const type = png.toString('latin1', offset + 4, offset + 8)
    const data = png.subarray(offset + 8, offset + 8 + length)
    if (type === 'IHDR') header = data
    if (type === 'IDAT') parts.push(data)
    offset += length + 12
  }
  if (header === null || header[8] !== 8 || (header[9] !== 2 && header[9] !== 6))
    throw new Error('not a picture of Chromium')
  const channels = header[9] === 6 ? 4 : 3
  const width = header.readUInt32BE(0)
  const height = header.readUInt32BE(4)
  return {
    width,
    height,
    channels,
    pixels: unfilter(inflateSync(Buffer.concat(parts)), width * channels, height, channels),
  }
}

function unfilter(raw: Buffer, stride: number, height: number, channels: number): Uint8Array {
  const pixels = new Uint8Array(stride * height)
  for (let y = 0; y < height; y++) {
    const filter = at(raw, y * (stride + 1))
    for (let x = 0; x < stride; x++) {
      const here = y * stride + x
      const left = x < channels ? 0 : at(pixels, here - channels)
      const up = y === 0 ? 0 : at(pixels, here - stride)
      const corner = y === 0 || x < channels ? 0 : at(pixels, here - stride - channels)
      pixels[here] = at(raw, y * (stride + 1) + 1 + x) + predict(filter, left, up, corner)
    }
  }
  return pixels
}

function predict(filter: number, left: number, up: number, corner: number): number {
  if (filter === 1) return left
  if (filter === 2) return up
  if (filter === 3) return (left + up) >> 1
  if (filter !== 4) return 0
  const toLeft = Math.abs(up - corner)
  const toUp = Math.abs(left - corner)
  const toCorner = Math.abs(left + up - corner - corner)
  if (toLeft <= toUp && toLeft <= toCorner) return left
  return toUp <= toCorner ? up : corner
}

const CRC_TABLE = Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1
  return value >>> 0
})

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const crc = body.reduce((sum, byte) => (CRC_TABLE[(sum ^ byte) & 255] ?? 0) ^ (sum >>> 8), 0xffffffff)
  const framed = Buffer.alloc(body.length + 8)
  framed.writeUInt32BE(data.length, 0)
  body.copy(framed, 4)
  framed.writeUInt32BE((crc ^ 0xffffffff) >>> 0, body.length + 4)
  return framed
}
