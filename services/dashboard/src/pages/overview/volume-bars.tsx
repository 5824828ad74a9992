import { Bar, BarChart, CartesianGrid, ResponsiveContainer, XAxis, YAxis } from 'recharts'
import { showAxisTick } from '../../format/amounts.ts'

const FILLS = ['var(--chart-1)', 'var(--chart-2)', 'url(#pm-hatch)']

/** Stacked bars; their heights are the only place where an amount becomes a float. */
export function VolumeBars(props: {
  readonly days: readonly string[]
  readonly series: readonly { readonly name: string; readonly amounts: readonly string[] }[]
  readonly height: number
}) {
  const rows = props.days.map((day, at) => ({
    day,
    ...Object.fromEntries(props.series.map(({ name, amounts }) => [name, Number(amounts[at] ?? 0)])),
  }))
  return (
    <ResponsiveContainer width="100%" height={props.height}>
      <BarChart
        data={rows}
        margin={{ top: 8, right: 8, bottom: 0, left: 0 }}
        accessibilityLayer={false}
        barCategoryGap="28%"
      >
        <defs>
          <pattern id="pm-hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
            <rect width="6" height="6" fill="var(--chart-3)" />
            <line x1="0" y1="0" x2="0" y2="6" stroke="var(--chart-2)" strokeWidth="2.5" />
          </pattern>
        </defs>
        <CartesianGrid vertical={false} stroke="var(--line)" />
        <XAxis
          dataKey="day"
          tickLine={false}
          axisLine={false}
          tick={{ fill: 'var(--ink-3)', fontSize: 12.5 }}
          minTickGap={16}
        />
        <YAxis
          tickLine={false}
          axisLine={false}
          width={52}
          tick={{ fill: 'var(--ink-3)', fontSize: 12.5 }}
          tickFormatter={showAxisTick}
        />
        {props.series.map(({ name }, index) => (
          <Bar
            key={name}
            dataKey={name}
            stackId="paid"
            fill={FILLS[index] ?? 'url(#pm-hatch)'}
            stroke="var(--surface)"
            strokeWidth={1}
            radius={2}
            isAnimationActive={false}
          />
        ))}
      </BarChart>
    </ResponsiveContainer>
  )
}
