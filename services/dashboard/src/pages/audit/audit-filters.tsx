import { TextInput } from '@mantine/core'
import { bindText } from '../../parts/bind-text.ts'
import { chipOf } from '../../parts/table/filter-chip.ts'
import { ListFilters } from '../../parts/table/list-filters.tsx'

/** Filters of the audit log in the URL. Days are in the operator's time zone. */
export const AUDIT_FILTERS = { actor: '', subject: '', from: '', until: '' }
type Filters = Readonly<Record<keyof typeof AUDIT_FILTERS, string>>

/** Bounds of the server; a person is searched as `user:` and their address. */
const SUBJECT_MAX = 200
const ACTOR_MAX = SUBJECT_MAX - 'user:'.length

const DAY = /^\d{4}-\d{2}-\d{2}$/

/** The filters in the server's form; invalid days are left out. */
export function auditInput({ actor, subject, from, until }: Filters) {
  const dayOf = (text: string, add: number) => {
    if (!DAY.test(text)) return undefined
    const [year = 0, month = 1, day = 1] = text.split('-').map(Number)
    const at = new Date(year, month - 1, day + add).getTime()
    return Number.isFinite(at) && at >= 0 ? at : undefined
  }
  const [fromMs, untilMs] = [dayOf(from, 0), dayOf(until, 1)]
  return {
    ...(actor.trim() === ''
      ? {}
      : { actor: actor.includes(':') ? actor.trim() : `user:${actor.trim().toLowerCase()}` }),
    ...(subject.trim() === '' ? {} : { subject: subject.trim() }),
    ...(fromMs === undefined ? {} : { from: fromMs }),
    ...(untilMs === undefined ? {} : { until: untilMs }),
  }
}

/** Who, what, when. */
export function AuditFilters(props: { readonly filters: Filters; readonly set: (change: Partial<Filters>) => void }) {
  const { filters, set } = props
  const chips = [
    ...chipOf(filters, AUDIT_FILTERS, 'actor', 'Actor'),
    ...chipOf(filters, AUDIT_FILTERS, 'subject', 'Target'),
    ...chipOf(filters, AUDIT_FILTERS, 'from', 'From'),
    ...chipOf(filters, AUDIT_FILTERS, 'until', 'Until'),
  ]
  return (
    <ListFilters
      chips={chips}
      remove={set}
      search={
        <TextInput
          label="Actor"
          description="Email address, or for example cli:root"
          {...bindText(filters.actor, (actor) => set({ actor }))}
          maxLength={ACTOR_MAX}
          data-page-search=""
        />
      }
    >
      <TextInput
        label="Target"
        description="ID of an invoice, key, wallet or user"
        {...bindText(filters.subject, (subject) => set({ subject }))}
        maxLength={SUBJECT_MAX}
      />
      <TextInput
        label="From"
        description="First day"
        type="date"
        {...bindText(filters.from, (from) => set({ from }))}
      />
      <TextInput
        label="Until"
        description="Last day"
        type="date"
        {...bindText(filters.until, (until) => set({ until }))}
      />
    </ListFilters>
  )
}
