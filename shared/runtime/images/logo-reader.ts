import { createHash } from 'node:crypto'
import type { Sharp, SharpOptions } from 'sharp'
import { invalid } from '#shared/contracts/http/validate.ts'
import type { Logo, LogoReader } from '#shared/ports/logos.ts'

/** A file of a stranger: bytes, and pixels before anything is decoded. 4,096 × 4,096 pixels take 64 MB for a moment. */
export const LOGO_FILE_BYTES_MAX = 524_288
const PIXELS_MAX = 4_096 * 4_096
/** What is stored: three times the size at which pages show it. */
const BOX = { width: 480, height: 160 } as const
const STORED_BYTES_MAX = 65_536
const QUALITIES = [90, 75, 50] as const
/** Decoding that takes longer is given up. */
const TIMEOUT_S = 5
const KINDS: ReadonlySet<string> = new Set(['png', 'jpeg', 'webp'])
/** Mean brightness of the visible pixels, 0 to 255, above which a transparent logo cannot be seen on white. */
const BRIGHT = 200
const VISIBLE_ALPHA = 32
const OPAQUE_ALPHA = 250

/** First bytes of the three kinds; `null` is any byte (the length in a WebP file). */
const SIGNATURES: readonly (readonly (number | null)[])[] = [
  [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
  [0xff, 0xd8, 0xff],
  [0x52, 0x49, 0x46, 0x46, null, null, null, null, 0x57, 0x45, 0x42, 0x50],
]

/**
 * Reads logos with libvips, which is loaded for the first file and can then decode PNG, JPEG and WebP only: no SVG, PDF or other kind with
 * code, links or delegates. Kind, bytes and pixels are checked before a pixel is decoded, and one file is decoded at a time: passwords are
 * hashed on the same threads. Only pixels leave it.
 */
export function createLogoReader(): LogoReader {
  let loaded: Promise<(input: Uint8Array, options: SharpOptions) => Sharp> | undefined
  let last: Promise<unknown> = Promise.resolve()
  return {
    read: async (file) => {
      if (file.length > LOGO_FILE_BYTES_MAX) throw refused('must be at most 512 KB. Make the picture smaller')
      if (!SIGNATURES.some((signature) => startsWith(file, signature)))
        throw refused('must be a PNG, JPEG or WebP file')
      loaded ??= loadSharp()
      const open = await loaded
      const logo = last.then(() => decode(open, file))
      last = logo.catch(() => null)
      return await logo
    },
  }
}

async function decode(open: (input: Uint8Array, options: SharpOptions) => Sharp, file: Uint8Array): Promise<Logo> {
  const options = { failOn: 'error', limitInputPixels: PIXELS_MAX, animated: false } as const
  // Reads the header only; the limit would answer a large picture like a broken one.
  const facts = await open(file, { ...options, limitInputPixels: false })
    .metadata()
    .catch(() => null)
  if (facts === null || !KINDS.has(facts.format)) throw refused('could not be read. Save it again as a PNG file')
  if (facts.width * facts.height > PIXELS_MAX) throw refused('must have at most 4096 × 4096 pixels')
  const small = open(file, options)
    .timeout({ seconds: TIMEOUT_S })
    .autoOrient()
    .resize({ ...BOX, fit: 'inside', withoutEnlargement: true })
    .toColourspace('srgb')
    .ensureAlpha()
    .raw()
  const pixels = await small.toBuffer({ resolveWithObject: true }).catch(() => null)
  if (pixels === null) throw refused('could not be read. Save it again as a PNG file')
  return await encode(open, pixels.data, pixels.info)
}

async function loadSharp(): Promise<(input: Uint8Array, options: SharpOptions) => Sharp> {
  const { default: sharp } = await import('sharp')
  sharp.block({ operation: ['VipsForeignLoad'] })
  const loaders = ['VipsForeignLoadPngBuffer', 'VipsForeignLoadJpegBuffer', 'VipsForeignLoadWebpBuffer']
  sharp.unblock({ operation: loaders })
  sharp.cache(false)
  sharp.concurrency(1)
  return (input, options) => sharp(input, options)
}

/** Pixels as WebP, at the best quality that fits. */
async function encode(
  open: (input: Uint8Array, options: SharpOptions) => Sharp,
  pixels: Uint8Array,
  { width, height }: { readonly width: number; readonly height: number },
): Promise<Logo> {
  const ground = groundOf(pixels)
  for (const quality of QUALITIES) {
    const made = open(pixels, { raw: { width, height, channels: 4 } }).webp({ quality, alphaQuality: 100, effort: 4 })
    const bytes = new Uint8Array(await made.toBuffer())
    const hash = createHash('sha256').update(bytes).digest('hex')
    if (bytes.length <= STORED_BYTES_MAX) return { hash, width, height, ground, bytes }
  }
  throw refused('has too much detail. Use a simpler picture')
}

/** Dark for a bright picture with transparent parts, which white would swallow. */
function groundOf(pixels: Uint8Array): Logo['ground'] {
  let sum = 0
  let seen = 0
  let isWhole = true
  for (let at = 0; at + 3 < pixels.length; at += 4) {
    const [red = 0, green = 0, blue = 0, alpha = 0] = pixels.subarray(at, at + 4)
    if (alpha < OPAQUE_ALPHA) isWhole = false
    if (alpha < VISIBLE_ALPHA) continue
    sum += (red * 54 + green * 183 + blue * 19) / 256
    seen += 1
  }
  if (seen === 0) throw refused('has no visible pixel')
  return !isWhole && sum / seen > BRIGHT ? 'dark' : 'light'
}

const startsWith = (file: Uint8Array, signature: readonly (number | null)[]): boolean =>
  signature.every((byte, at) => byte === null || file[at] === byte)

const refused = (message: string) => invalid([{ path: 'image', message }])
