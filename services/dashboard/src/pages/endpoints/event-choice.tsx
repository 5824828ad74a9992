import { Checkbox } from '@mantine/core'
import { EVENT_TYPES, type EventType } from '#shared/domain/enumerations.ts'

/** An event that an endpoint may receive. */
export type EventName = '*' | EventType

const CHOOSABLE = EVENT_TYPES.filter((type) => type !== 'webhook.test')

/** The events that an endpoint receives: all, including future ones, or some. */
export function EventChoice(props: {
  readonly value: readonly EventName[]
  readonly onChange: (value: readonly EventName[]) => void
  readonly problem?: string | undefined
}) {
  const { value, onChange, problem } = props
  const all = value.includes('*')
  return (
    <Checkbox.Group
      label="Events"
      error={problem}
      value={[...value]}
      onChange={(next) =>
        onChange(next.includes('*') && !all ? ['*'] : (next.filter((each) => each !== '*') as EventName[]))
      }
    >
      <Checkbox mt="xs" value="*" label="All events, also types that are added later" />
      {all
        ? null
        : CHOOSABLE.map((type) => (
            <Checkbox key={type} mt={6} value={type} label={<span className="pm-mono">{type}</span>} />
          ))}
    </Checkbox.Group>
  )
}
