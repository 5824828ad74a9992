import { createHash } from 'node:crypto'
import { crc32, deflateSync } from 'node:zlib'
import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { createLogoReader, LOGO_FILE_BYTES_MAX } from './logo-reader.ts'

const reader = createLogoReader()

type Colour = { readonly r: number; readonly g: number; readonly b: number; readonly alpha: number }
const TEAL: Colour = { r: 11, g: 79, b: 87, alpha: 1 }

const picture = (width: number, height: number, background: Colour = TEAL) =>
  sharp({ create: { width, height, channels: 4, background } })

/** A chunk of a PNG file. */
function chunk(name: string, data: Buffer): Buffer {
  const head = Buffer.concat([Buffer.from(name, 'latin1'), data])
  const frame = Buffer.alloc(8)
  frame.writeUInt32BE(data.length, 0)
  frame.writeUInt32BE(crc32(head), 4)
  return Buffer.concat([frame.subarray(0, 4), head, frame.subarray(4)])
}

/** A small PNG file that says it has so many grey pixels, and has `rows` of them. */
function png(width: number, height: number, rows = 0): Buffer {
  const size = Buffer.alloc(13)
  size.writeUInt32BE(width, 0)
  size.writeUInt32BE(height, 4)
  size.set([8, 0, 0, 0, 0], 8)
  const content = deflateSync(Buffer.alloc(rows * (width + 1)))
  const signature = Buffer.from('89504e470d0a1a0a', 'hex')
  return Buffer.concat([signature, chunk('IHDR', size), chunk('IDAT', content), chunk('IEND', Buffer.alloc(0))])
}

/** The sentence with which a file is refused. */
const refusal = (file: Uint8Array) =>
  reader.read(file).then(
    () => 'taken',
    (error: { readonly code?: string; readonly details?: readonly { path: string; message: string }[] }) =>
      `${error.code} ${error.details?.[0]?.path} ${error.details?.[0]?.message}`,
  )

describe('a logo', () => {
  it.each(['png', 'jpeg', 'webp'] as const)('is taken as %s and becomes a small WebP picture', async (kind) => {
    const logo = await reader.read(await picture(1_200, 600).toFormat(kind).toBuffer())
    expect(logo).toMatchObject({ width: 320, height: 160, ground: 'light' })
    expect(await sharp(logo.bytes).metadata()).toMatchObject({ format: 'webp', width: 320, height: 160 })
    expect(logo.hash).toBe(createHash('sha256').update(logo.bytes).digest('hex'))
    expect(logo.bytes.length).toBeLessThan(65_536)
  })

  it('of the same pixels has the same name, and a small one is not enlarged', async () => {
    const file = await picture(40, 20).png().toBuffer()
    const [one, two] = [await reader.read(file), await reader.read(file)]
    expect(one).toEqual(two)
    expect(one).toMatchObject({ width: 40, height: 20 })
  })

  it('that is white on a transparent ground is shown on a dark one', async () => {
    const clear = { r: 0, g: 0, b: 0, alpha: 0 }
    const sign = await picture(40, 40, { r: 255, g: 255, b: 255, alpha: 1 }).png().toBuffer()
    const file = await picture(80, 80, clear)
      .composite([{ input: sign }])
      .png()
      .toBuffer()
    expect((await reader.read(file)).ground).toBe('dark')
    const whole = await picture(80, 80, { r: 255, g: 255, b: 255, alpha: 1 }).png().toBuffer()
    expect((await reader.read(whole)).ground).toBe('light')
    expect(await refusal(await picture(80, 80, clear).png().toBuffer())).toContain('has no visible pixel')
  })

  // Guarantee: nobody learns from a logo where and with what it was made, and it stands upright without its EXIF.
  it('loses its metadata after it was turned by them', async () => {
    const exif = { IFD0: { Artist: 'Secret Person', Copyright: 'Secret' }, IFD3: { GPSLatitude: '51/1 30/1 0/1' } }
    const file = await picture(200, 100).withExif(exif).withMetadata({ orientation: 6 }).jpeg().toBuffer()
    expect(file.includes('Secret Person')).toBe(true)
    const logo = await reader.read(file)
    expect(logo).toMatchObject({ width: 80, height: 160 })
    const facts = await sharp(logo.bytes).metadata()
    expect([facts.exif, facts.xmp, facts.iptc, facts.icc, facts.orientation]).toEqual([
      ...[undefined, undefined, undefined, undefined, undefined],
    ])
    expect(Buffer.from(logo.bytes).includes('Secret')).toBe(false)
  })

  // Guarantee: a file that is also a page or an archive leaves as a picture only.
  it('that is also a page or an archive leaves that behind', async () => {
    const page = '<html><script>alert(1)</script>PK\u0003\u0004'
    const file = Buffer.concat([await picture(64, 64).png().toBuffer(), Buffer.from(page)])
    const logo = await reader.read(file)
    for (const part of ['<script', 'html', 'PK']) expect(Buffer.from(logo.bytes).includes(part)).toBe(false)
    const gifar = Buffer.concat([Buffer.from('GIF89a/*'), file])
    expect(await refusal(gifar)).toContain('must be a PNG, JPEG or WebP file')
  })

  // Guarantee: the size is checked before pixels are decoded, so that a small file cannot take the memory of the process.
  it('of 30,000 × 30,000 pixels is refused without decoding it', async () => {
    const before = process.memoryUsage().rss
    expect(await refusal(png(30_000, 30_000))).toBe('VALIDATION_ERROR image must have at most 4096 × 4096 pixels')
    expect(await refusal(png(30_000, 30_000, 1_000))).toContain('must have at most 4096 × 4096 pixels')
    expect(await refusal(png(1, 65_000_000))).toMatch(/must have at most|could not be read/)
    expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000)
  })

  it.each([
    ['an SVG with a script', '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'],
    ['an SVG behind a PNG signature', '\x89PNG\r\n\x1a\n<svg xmlns="http://www.w3.org/2000/svg"/>'],
    ['a page', '<!doctype html><script>alert(1)</script>'],
    ['a PDF', '%PDF-1.7'],
    ['a GIF', 'GIF89a'],
    ['a TIFF', 'II*\0'],
    ['text', 'hello'],
    ['nothing', ''],
    ['a WebP signature without a picture', 'RIFF\0\0\0\0WEBPVP8 '],
    ['a JPEG signature without a picture', '\xff\xd8\xff\xe0'],
  ])('is not %s', async (_what, text) => {
    expect(await refusal(Buffer.from(text, 'latin1'))).toMatch(
      /^VALIDATION_ERROR image (must be a PNG, JPEG or WebP file|could not be read)/,
    )
  })

  it('is not a broken file, nor one of many bytes', async () => {
    const whole = await sharp({
      create: {
        width: 400,
        height: 400,
        channels: 3,
        background: TEAL,
        noise: { type: 'gaussian', mean: 120, sigma: 40 },
      },
    })
      .png()
      .toBuffer()
    expect(await refusal(whole.subarray(0, whole.length / 2))).toContain('could not be read')
    expect(await refusal(Buffer.alloc(LOGO_FILE_BYTES_MAX + 1, 0x89))).toBe(
      'VALIDATION_ERROR image must be at most 512 KB. Make the picture smaller',
    )
  })
})
