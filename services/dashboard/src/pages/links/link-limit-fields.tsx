import { TextInput } from '@mantine/core'
import { bindText } from '../../parts/bind-text.ts'

/** The server's own bound (`shared/ports/payment-links.ts`), which pages may not import. */
const LINK_USES_MAX = 1_000

/** Limits of a link as typed. */
interface TypedLimits {
  readonly uses: string
  /** In the reader's own time zone, as the browser's field has it; empty = no end. */
  readonly end: string
}

/** The fields of a link's number of payments and of its end. */
export function LinkLimitFields(props: {
  readonly limits: TypedLimits
  readonly onChange: (limits: TypedLimits) => void
  readonly fields: Readonly<Record<string, string>>
  /** A sentence about uses that are held already. */
  readonly held?: string | null
}) {
  const { limits, onChange, fields } = props
  return (
    <>
      <TextInput
        label="Number of payments (optional)"
        description={
          props.held ?? 'One for each customer who pays. A customer who does not pay in time frees the place.'
        }
        inputMode="numeric"
        {...bindText(limits.uses, (uses) => onChange({ ...limits, uses }))}
        maxLength={4}
        error={usesProblem(limits.uses) ?? fields['link.max_uses'] ?? fields['max_uses']}
      />
      <TextInput
        label="Ends at (optional)"
        description="No new payments from then on, in your time zone."
        type="datetime-local"
        {...bindText(limits.end, (end) => onChange({ ...limits, end }))}
        error={fields['expires_at']}
      />
    </>
  )
}

/** The typed limits as the server takes them; an empty field is left out. */
export function readLimits({ uses, end }: TypedLimits): { max_uses?: number; expires_at?: string } {
  return {
    ...(uses.trim() !== '' && { max_uses: Number(uses) }),
    ...(end !== '' && { expires_at: new Date(end).toISOString() }),
  }
}

/** A stored end as the browser's field has it: local time, to the minute. */
export function localMinute(at: string): string {
  const time = new Date(at)
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** What is wrong with a number of payments as typed; null when it is empty or right. */
export function usesProblem(typed: string): string | null {
  const text = typed.trim()
  if (text === '') return null
  return /^[1-9]\d*$/.test(text) && Number(text) <= LINK_USES_MAX ? null : `A whole number from 1 to ${LINK_USES_MAX}.`
}
