import { crc32, deflateSync } from 'node:zlib'
import { encode } from 'uqr'

const QUIET = 4
/** Pixels of one module. */
const SCALE = 6
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/**
 * A QR code as the `data:` address of a PNG of one bit a pixel (https://www.w3.org/TR/png-3/), black on white with four modules of quiet zone.
 * A picture and no SVG: Tor Browser's strictest level shows no SVG (`svg.disabled`).
 */
export function qrPicture(text: string): { readonly src: string; readonly size: number } {
  const { data } = encode(text, { ecc: 'M', border: QUIET })
  const size = data.length * SCALE
  const bytesPerLine = Math.ceil(size / 8)
  const lines = data.map((row) => {
    // The first byte names the filter of the line: none.
    const line = Buffer.alloc(1 + bytesPerLine)
    for (let x = 0; x < size; x += 1) {
      if (row[Math.floor(x / SCALE)] !== true) line[1 + (x >> 3)] = (line[1 + (x >> 3)] ?? 0) | (0x80 >> (x & 7))
    }
    return Buffer.concat(Array.from({ length: SCALE }, () => line))
  })
  const header = Buffer.alloc(13)
  header.writeUInt32BE(size, 0)
  header.writeUInt32BE(size, 4)
  // One bit of depth, greyscale, and the only methods of compression, filtering and order.
  header.set([1, 0, 0, 0, 0], 8)
  const parts = [
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.concat(lines))),
    chunk('IEND', Buffer.alloc(0)),
  ]
  return { src: `data:image/png;base64,${Buffer.concat([SIGNATURE, ...parts]).toString('base64')}`, size }
}

function chunk(type: string, content: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), content])
  const frame = Buffer.alloc(8)
  frame.writeUInt32BE(content.length, 0)
  frame.writeUInt32BE(crc32(named), 4)
  return Buffer.concat([frame.subarray(0, 4), named, frame.subarray(4)])
}
