import { showDuration } from '../../format/time.ts'

/** Duration of each phase of a request, in ms; null for a phase that did not happen. */
export interface Phases {
  readonly dnsMs: number | null
  readonly connectMs: number | null
  readonly tlsMs: number | null
  readonly firstByteMs: number | null
}

const PARTS = [
  ['dnsMs', 'DNS', 'pm-phase-dns'],
  ['connectMs', 'connect', 'pm-phase-connect'],
  ['tlsMs', 'TLS', 'pm-phase-tls'],
  ['firstByteMs', 'first byte', 'pm-phase-byte'],
] as const
const WIDTH = 84

/** The phases of a request as a bar, scaled to the longest request next to it; the text contains the same values. */
export function PhaseBar(props: {
  readonly phases: Phases | null
  readonly totalMs: number
  readonly scaleMs: number
}) {
  const { phases, totalMs, scaleMs } = props
  const unit = WIDTH / Math.max(1, scaleMs)
  const known = PARTS.map(([key, word, look]) => ({ word, look, ms: phases?.[key] ?? 0 }))
  const named = known.reduce((sum, { ms }) => sum + ms, 0)
  const bars = [...known, { word: 'rest', look: 'pm-phase-rest', ms: Math.max(0, totalMs - named) }].filter(
    ({ ms }) => ms > 0,
  )
  const words = [...bars.map(({ word, ms }) => `${word} ${showDuration(ms)}`), `total ${showDuration(totalMs)}`]
  let x = WIDTH - totalMs * unit
  return (
    <svg viewBox={`0 0 ${WIDTH} 8`} width={WIDTH} height={8} role="img" aria-label={words.join(', ')}>
      {bars.map(({ word, look, ms }) => {
        const at = x
        x += ms * unit
        return <rect key={word} x={at} y={0} width={Math.max(0.5, ms * unit)} height={8} className={look} />
      })}
    </svg>
  )
}

/** The legend of the bars' colours. */
export function PhaseLegend() {
  return (
    <div className="pm-legend" aria-hidden>
      {PARTS.map(([, word, look]) => (
        <span key={word}>
          <svg width={10} height={10} aria-hidden>
            <rect width={10} height={10} rx={2} className={look} />
          </svg>
          {word}
        </span>
      ))}
    </div>
  )
}
