import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { brandPalette } from './brand-palette.ts'

/** Contrast by the text of WCAG 2.2, written down a second time. */
function contrast(one: string, other: string): number {
  const luminance = (colour: string) => {
    const [r = 0, g = 0, b = 0] = [1, 3, 5]
      .map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const [high, low] = [Math.max(luminance(one), luminance(other)), Math.min(luminance(one), luminance(other))]
  return (high + 0.05) / (low + 0.05)
}

const TOKENS = readFileSync(new URL('./tokens.css', import.meta.url), 'utf8')
/** Light and dark value of a token. */
function token(name: string): readonly [string, string] {
  const found = new RegExp(`${name}: (?:light-dark\\()?(#\\w{6})(?:, (#\\w{6}))?`).exec(TOKENS)
  if (found?.[1] === undefined) throw new Error(`no token ${name}`)
  return [found[1], found[2] ?? found[1]]
}

/** Text and ground that stand on each other on payers' pages. */
const PAIRS = [
  ['--brand', '--paper'],
  ['--brand', '--surface'],
  ['--brand', '--sunken'],
  ['--brand', '--brand-soft'],
  ['--ink', '--brand-soft'],
  ['--ink-2', '--brand-soft'],
  ['--on-brand', '--brand'],
  ['--on-brand', '--brand-hover'],
  ['--on-deep', '--brand-deep'],
  ['--on-deep-2', '--brand-deep'],
] as const

function unreadable(colour: string): readonly string[] {
  const properties: Readonly<Record<string, string>> = brandPalette(colour)?.properties ?? {}
  const colourOf = (name: string, theme: number) =>
    properties[name]?.match(/#\w{6}/g)?.[theme] ?? token(name)[theme] ?? ''
  return PAIRS.flatMap(([text, ground]) =>
    [0, 1].flatMap((theme) => {
      const ratio = contrast(colourOf(text, theme), colourOf(ground, theme))
      return ratio >= 4.5 ? [] : [`${text} on ${ground}, ${theme === 0 ? 'light' : 'dark'}: ${ratio.toFixed(2)}`]
    }),
  )
}

// Guarantee: whatever colour a merchant chooses, every text of the page can be read in both themes.
it('keeps every text readable for any colour', () => {
  const byte = fc.integer({ min: 0, max: 255 })
  const hex = (parts: readonly number[]) => `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`
  for (const edge of ['#000000', '#ffffff', '#ffff00', '#00ff00', '#0000ff', '#ff0000', '#777777', '#ffd500'])
    expect(unreadable(edge), edge).toEqual([])
  fc.assert(
    fc.property(fc.tuple(byte, byte, byte), (parts) => {
      expect(unreadable(hex(parts)), hex(parts)).toEqual([])
    }),
    { numRuns: 2_000 },
  )
})

it('leaves a colour that is readable as it is, and says what it made of another', () => {
  expect(brandPalette('#0B4F57')?.button).toBe('#0b4f57')
  expect(brandPalette('#0b4f57')?.bill.light[0]).toBe('#0b4f57')
  expect(brandPalette('#ffd500')?.button).not.toBe('#ffd500')
  expect(brandPalette('#ffd500')?.bill.light[0]).toBe('#ffd500')
})

it.each(['', 'red', '#fff', '#12345g', 'url(x)', '#0b4f57;x', 'light-dark(red,blue)'])('refuses %s', (text) => {
  expect(brandPalette(text)).toBeNull()
})
