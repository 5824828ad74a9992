import sharp from 'sharp'
import { encode } from 'uqr'
import { expect, it } from 'vitest'
import { qrPicture } from './qr-picture.ts'

// Guarantee: the picture is the code, module for module, so that what is scanned is the address that is shown.
it.each(['bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq', `bitcoin:${'x'.repeat(90)}?amount=0.00159915`, 'a'])(
  'a PNG with the modules of the code of %s',
  async (text) => {
    const { src, size } = qrPicture(text)
    const png = Buffer.from(src.replace('data:image/png;base64,', ''), 'base64')
    const { data, info } = await sharp(png).greyscale().raw().toBuffer({ resolveWithObject: true })
    expect([info.width, info.height]).toEqual([size, size])
    const modules = encode(text, { ecc: 'M', border: 4 }).data
    const scale = size / modules.length
    const read = modules.map((row, y) =>
      row.map((_, x) => [0, scale - 1].map((at) => data[(y * scale + at) * size + x * scale + at] === 0)),
    )
    expect(read).toEqual(modules.map((row) => row.map((isDark) => [isDark, isDark])))
  },
)
