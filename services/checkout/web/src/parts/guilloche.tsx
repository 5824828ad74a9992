const LINES = 22
const WAVES = 9

/** Interlaced sine lines, as on a banknote: each slightly shifted and wider than the previous one. */
function line(index: number, width: number, middle: number, height: number): string {
  const swing = height * (0.35 + 0.65 * Math.sin((Math.PI * (index + 2)) / (LINES + 3)))
  const half = width / 4
  const start = -Math.round((index * width) / LINES) - half
  const waves = ` t${half * 2} 0`.repeat(WAVES)
  return `M${start} ${middle} q${half} ${-Math.round(swing)} ${half * 2} 0${waves}`
}

/** The ornament of bill and receipt, without meaning. */
export function Guilloche({ kind }: { readonly kind: 'bill' | 'receipt' }) {
  const box = kind === 'bill' ? { width: 480, height: 150 } : { width: 760, height: 74 }
  const swing = kind === 'bill' ? 131 : 66
  return (
    <svg
      class="guilloche"
      viewBox={`0 0 ${box.width} ${box.height}`}
      preserveAspectRatio="xMidYMid slice"
      aria-hidden="true"
      focusable="false"
    >
      {Array.from({ length: LINES }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines never change
        <path key={index} d={line(index, 240, box.height / 2, swing)} />
      ))}
    </svg>
  )
}
