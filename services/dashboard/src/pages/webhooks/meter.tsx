/** A share of a whole as a bar, with a threshold mark. `label` describes the result in words. */
export function Meter(props: {
  readonly label: string
  /** 0 to 1; more is shown as full. */
  readonly share: number
  readonly mark?: number
  readonly tone: 'good' | 'warn' | 'bad'
}) {
  const { label, share, mark, tone } = props
  const width = 100 * Math.min(1, Math.max(0, share))
  return (
    <svg className="pm-meter" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label={label}>
      <rect className="pm-meter-track" width={100} height={8} rx={2} />
      <rect className={`pm-meter-${tone}`} width={width} height={8} rx={2} />
      {mark === undefined ? null : (
        <rect className="pm-meter-mark" x={100 * Math.min(1, mark)} width={0.7} height={8} />
      )}
    </svg>
  )
}
