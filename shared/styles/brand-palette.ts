/** Red, green and blue, 0 to 255. */
type Colour = readonly [number, number, number]

const BLACK: Colour = [0, 0, 0]
const WHITE: Colour = [255, 255, 255]
/** Grounds and texts of `tokens.css` that the merchant's colour meets: the ground with the least contrast of each theme, and its secondary text. */
const LIGHT = { sunken: [238, 236, 228], ink: [70, 82, 79] } as const
const DARK = { sunken: [28, 39, 38], surface: [21, 30, 29], ink: [180, 192, 189] } as const
/** WCAG 2.2, text of any size; a little more, because colours are rounded. */
const READABLE = 4.6
const STEP = 0.02

/** Colours of payers' pages made from a merchant's, as custom properties of `tokens.css`. */
export interface BrandPalette {
  readonly properties: Readonly<Record<string, string>>
  /** The colour of links and buttons in the light theme, `#rrggbb`; differs from the given one where text could not be read. */
  readonly button: string
  /** Ground of the bill, and text on it, by theme. */
  readonly bill: { readonly light: readonly [string, string]; readonly dark: readonly [string, string] }
}

/** True for `#rrggbb`. */
export const isColour = (text: string): boolean => /^#[0-9a-f]{6}$/i.test(text)

/**
 * The palette of a merchant's colour (`#rrggbb`). Every text has 4.5:1 on its ground in both themes (WCAG 2.2): the colour is darkened or
 * lightened as far as that needs. Null for anything but a colour.
 */
export function brandPalette(text: string): BrandPalette | null {
  if (!isColour(text)) return null
  const colour: Colour = [1, 3, 5].map((at) => Number.parseInt(text.slice(at, at + 2), 16)) as unknown as Colour
  const bill = billOf(colour)
  // In the dark theme the whole page is dark: a bright bill would blind.
  const darkBill = billOf(until(mix(colour, BLACK, 0.45), BLACK, (tried) => luminance(tried) <= 0.09))
  const button = until(colour, BLACK, (tried) => contrast(tried, LIGHT.sunken) >= READABLE)
  const soft = until(mix(button, WHITE, 0.84), WHITE, (tried) => both(tried, button, LIGHT.ink))
  const glow = until(colour, WHITE, (tried) => contrast(tried, DARK.sunken) >= READABLE + 1)
  const dim = until(mix(glow, DARK.surface, 0.8), BLACK, (tried) => both(tried, glow, DARK.ink))
  const onGlow = until(mix(glow, BLACK, 0.85), BLACK, (tried) => contrast(tried, glow) >= READABLE)
  const pair = (light: Colour, dark: Colour) => `light-dark(${hex(light)}, ${hex(dark)})`
  return {
    properties: {
      '--brand': pair(button, glow),
      '--brand-hover': pair(mix(button, BLACK, 0.2), mix(glow, WHITE, 0.3)),
      '--brand-soft': pair(soft, dim),
      '--on-brand': pair(WHITE, onGlow),
      '--brand-deep': pair(bill.ground, darkBill.ground),
      '--on-deep': pair(bill.text, darkBill.text),
      '--on-deep-2': pair(bill.quiet, darkBill.quiet),
    },
    button: hex(button),
    bill: { light: [hex(bill.ground), hex(bill.text)], dark: [hex(darkBill.ground), hex(darkBill.text)] },
  }
}

/** A ground of the colour itself where dark or white text can be read on it, else of a darker one. */
function billOf(colour: Colour): { readonly ground: Colour; readonly text: Colour; readonly quiet: Colour } {
  const isBright = contrast(colour, BLACK) >= 9
  const towards = isBright ? BLACK : WHITE
  const quietOn = (ground: Colour) => mix(ground, towards, 0.8)
  const ground = until(colour, isBright ? WHITE : BLACK, (tried) => contrast(quietOn(tried), tried) >= READABLE)
  return { ground, text: mix(ground, towards, 0.94), quiet: quietOn(ground) }
}

const both = (ground: Colour, one: Colour, other: Colour): boolean =>
  contrast(ground, one) >= READABLE && contrast(ground, other) >= READABLE

/** The colour, moved towards black or white until it fits. */
function until(colour: Colour, end: Colour, fits: (tried: Colour) => boolean): Colour {
  for (let share = 0; share < 1; share += STEP) {
    const tried = mix(colour, end, share)
    if (fits(tried)) return tried
  }
  return end
}

const mix = (from: Colour, to: Colour, share: number): Colour => [
  Math.round(from[0] + (to[0] - from[0]) * share),
  Math.round(from[1] + (to[1] - from[1]) * share),
  Math.round(from[2] + (to[2] - from[2]) * share),
]

/** Contrast of two colours, 1 to 21 (WCAG 2.2, "contrast ratio"). */
function contrast(one: Colour, other: Colour): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((left, right) => left - right)
  return (light + 0.05) / (dark + 0.05)
}

/** WCAG 2.2, "relative luminance". */
function luminance([red, green, blue]: Colour): number {
  const [r = 0, g = 0, b = 0] = [red, green, blue].map((part) => {
    const share = part / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

const hex = (colour: Colour): string => `#${colour.map((part) => part.toString(16).padStart(2, '0')).join('')}`
