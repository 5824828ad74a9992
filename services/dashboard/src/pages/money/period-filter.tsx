import { NativeSelect, TextInput } from '@mantine/core'
import { bindText } from '../../parts/bind-text.ts'
import { BY_DATES, PERIOD_CHOICES, type PeriodFilters, TIME_CHOICES } from './period.ts'

/** A choice of the time that a period is of, for lists that have several. */
export function TimeFilter({ by, onChange }: { readonly by: string; readonly onChange: (by: string) => void }) {
  return <NativeSelect aria-label="Time of" data={[...TIME_CHOICES]} {...bindText(by, onChange)} />
}

/** A filter by time: a period back from now, or two days. `label` says of what the time is: "Created". */
export function PeriodFilter(props: {
  readonly label: string
  readonly filters: PeriodFilters
  readonly problem: string | null
  readonly onChange: (change: Partial<PeriodFilters>) => void
}) {
  const { label, filters, problem, onChange } = props
  return (
    <>
      <NativeSelect
        aria-label={label}
        data={PERIOD_CHOICES}
        value={filters.period}
        onChange={({ currentTarget }) => {
          const period = currentTarget.value
          onChange(period === BY_DATES ? { period } : { period, since: '', until: '' })
        }}
      />
      {filters.period === BY_DATES ? (
        <>
          <DayField
            label={`${label} from`}
            day={filters.since}
            isWrong={problem !== null}
            onChange={(since) => onChange({ since })}
          />
          <DayField
            label={`${label} until`}
            day={filters.until}
            isWrong={problem !== null}
            onChange={(until) => onChange({ until })}
          />
          {problem === null ? null : (
            <span role="alert" className="pm-small pm-problem">
              {problem}
            </span>
          )}
        </>
      ) : null}
    </>
  )
}

/** A field for a day. The browser shows a day in the order of its own language; the value is always `2026-11-19`. */
export function DayField(props: {
  readonly label: string
  readonly day: string
  readonly isWrong: boolean
  readonly onChange: (day: string) => void
}) {
  return (
    <TextInput
      type="date"
      aria-label={props.label}
      aria-invalid={props.isWrong}
      {...bindText(props.day, props.onChange)}
    />
  )
}
