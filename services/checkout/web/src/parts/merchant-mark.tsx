import { useEffect, useState } from 'preact/hooks'
import type { MerchantView } from '#shared/contracts/checkout/invoice-view.ts'
import { brandPalette } from '#shared/styles/brand-palette.ts'

/** The merchant's logo, or their initials: also where the logo was removed since the page was opened. */
export function MerchantMark({ merchant }: { readonly merchant: MerchantView }) {
  const { name, logo = null } = merchant
  const [broken, setBroken] = useState<string | null>(null)
  if (logo === null || broken === logo.path) {
    return (
      <span class="monogram" aria-hidden="true">
        {initials(name)}
      </span>
    )
  }
  const { path, width, height, ground } = logo
  return (
    // The name stands beside it.
    <img
      class={`brand-logo on-${ground}`}
      src={path}
      width={width}
      height={height}
      alt=""
      onError={() => setBroken(path)}
    />
  )
}

/** Shows the page in the merchant's colour while it is open; in ours without one. */
export function useBrandColour({ colour = null }: MerchantView): void {
  useEffect(() => {
    const palette = colour === null ? null : brandPalette(colour)
    if (palette === null) return
    const { style } = document.documentElement
    const names = Object.keys(palette.properties)
    // Not an inline style of the page, which its policy forbids: properties that a script sets are allowed.
    for (const name of names) style.setProperty(name, palette.properties[name] ?? '')
    return () => {
      for (const name of names) style.removeProperty(name)
    }
  }, [colour])
}

function initials(name: string): string {
  const words = name.match(/[\p{L}\p{N}]+/gu) ?? []
  const letters =
    words.length > 1 ? words.slice(0, 2).map((word) => [...word][0] ?? '') : [...(words[0] ?? '')].slice(0, 2)
  return letters.join('').toUpperCase()
}
