import { useElementSize } from '@mantine/hooks'
import { showAxisTick } from '../../format/amounts.ts'
import { stackBars } from './stack-bars.ts'

const FILLS = ['var(--chart-1)', 'var(--chart-2)', 'url(#pm-hatch)']
/** Margins for the ticks at the left, the days below and half a line above. */
const LEFT = 52
const BELOW = 26
const ABOVE = 8
const RIGHT = 8

/** Stacked bars, one per day. A drawing only: `ChartCard` repeats its numbers as a sentence and a table. */
export function VolumeBars(props: {
  readonly days: readonly string[]
  readonly series: readonly { readonly name: string; readonly amounts: readonly string[] }[]
  readonly height: number
}) {
  const { ref, width } = useElementSize()
  const plot = { width: Math.max(0, width - LEFT - RIGHT), height: props.height - ABOVE - BELOW }
  const { ticks, labels, parts } = stackBars(
    props.series.map(({ amounts }) => amounts),
    // Before its first measurement the chart has no width: it keeps its space and draws nothing.
    width === 0 ? 0 : props.days.length,
    plot,
  )
  return (
    <div ref={ref}>
      <svg className="pm-bars" width={width} height={props.height} aria-hidden="true">
        <defs>
          <pattern id="pm-hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
            <rect width="6" height="6" fill="var(--chart-3)" />
            <line x1="0" y1="0" x2="0" y2="6" stroke="var(--chart-2)" strokeWidth="2.5" />
          </pattern>
        </defs>
        <g transform={`translate(${LEFT} ${ABOVE})`}>
          {ticks.map(({ value, y }) => (
            <g key={value}>
              <line x2={plot.width} y1={y} y2={y} />
              <text x={-8} y={y} dy="0.32em" textAnchor="end">
                {showAxisTick(value)}
              </text>
            </g>
          ))}
          {parts.map(({ series, x, ...size }) => (
            <rect key={`${x}-${series}`} data-part x={x} {...size} rx={2} fill={FILLS[series] ?? 'url(#pm-hatch)'} />
          ))}
          {labels.map(({ day, x }) => (
            <text key={day} x={x} y={plot.height + 18} textAnchor="middle">
              {props.days[day]}
            </text>
          ))}
        </g>
      </svg>
    </div>
  )
}
