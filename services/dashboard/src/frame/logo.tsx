/** The mark: a woven mesh. */
export function Logo({ size = 26 }: { readonly size?: number }) {
  return (
    <svg
      className="pm-logo"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      strokeLinecap="round"
      aria-hidden="true"
    >
      <g stroke="currentColor" strokeWidth="2.6">
        <path d="M8 2.5v19M16 2.5v19" />
      </g>
      <g className="pm-logo-gap" strokeWidth="6" strokeLinecap="butt">
        <path d="M5.5 8h5M13.5 16h5" />
      </g>
      <g stroke="currentColor" strokeWidth="2.6">
        <path d="M2.5 8h10.2M19.3 8h2.2M2.5 16h2.2M11.3 16h10.2" />
      </g>
    </svg>
  )
}

const WAVES = Array.from({ length: 18 }, (_, index) => {
  const height = Math.round(132 - Math.abs(index - 9) * 9.5)
  const shift = -index * 11.8
  return `M${shift.toFixed(1)} 75${`q53 -${height} 106 0t106 0`.repeat(3)}`
})

/** The banknote's lines at the foot of the navigation. */
export function Guilloche() {
  return (
    <svg
      className="pm-guilloche"
      viewBox="0 0 212 150"
      preserveAspectRatio="xMidYMid slice"
      fill="none"
      aria-hidden="true"
    >
      {WAVES.map((wave) => (
        <path key={wave} d={wave} />
      ))}
    </svg>
  )
}
