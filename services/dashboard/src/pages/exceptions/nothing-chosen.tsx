import { Link } from 'react-router'
import type { api } from '../../api/trpc.ts'
import { KeyList } from '../../frame/key-list.tsx'
import { Card } from '../../parts/card.tsx'
import { Money } from '../../parts/money.tsx'
import { Time, WithTimes } from '../../parts/time.tsx'
import { useTo } from '../../session/scope.ts'
import type { ExceptionRow } from '../money/answers.ts'

type Kinds = Awaited<ReturnType<typeof api.exceptions.counts.query>>['kinds']

const MOVE = [
  ['J and K', 'Next and previous exception'],
  ['Enter', 'Open it'],
  ['Esc', 'Return to the list'],
] as const
const DECIDE = [
  ['A', 'Accept the open exception: moves to the reason'],
  ['R', 'Reject it: moves to the reason'],
] as const

/** Beside the list while no exception is open, on windows with room for both: the oldest, how many of each kind, and the keys. */
export function NothingChosen(props: {
  /** The open exception that has waited longest, where the list begins with it. */
  readonly oldest: ExceptionRow | undefined
  readonly kinds: Kinds
  /** The list's filters, kept in the link. */
  readonly query: string
  readonly mayDecide: boolean
}) {
  const { oldest, kinds, query, mayDecide } = props
  return (
    <Card title="Select an exception" className="pm-unchosen">
      <div className="pm-stack">
        <p className="pm-muted">Its evidence and your options appear here.</p>
        {oldest === undefined ? null : <Oldest row={oldest} query={query} />}
        {kinds.length === 0 ? null : <ByKind kinds={kinds} />}
        <section aria-labelledby="inbox-keys">
          <h3 id="inbox-keys">Keys</h3>
          <KeyList keys={[...MOVE, ...(mayDecide ? DECIDE : [])]} />
        </section>
      </div>
    </Card>
  )
}

function Oldest({ row, query }: { readonly row: ExceptionRow; readonly query: string }) {
  const to = useTo()
  return (
    <section aria-labelledby="inbox-oldest">
      <h3 id="inbox-oldest">Waiting longest</h3>
      <p className="pm-row">
        <b>
          {row.title}
          {row.invoice === null ? null : ` on #${row.invoice.number}`}
        </b>
        {row.invoice === null ? null : <Money {...row.invoice.amount} />}
        <span className="pm-muted pm-small">
          since <Time at={row.openedAt} />
        </span>
      </p>
      <p className="pm-muted pm-small">
        <WithTimes text={row.sentence} />
      </p>
      <Link className="pm-link" to={`${to('exceptions', row.id)}${query === '' ? '' : `?${query}`}`}>
        Open the oldest
      </Link>
    </section>
  )
}

function ByKind({ kinds }: { readonly kinds: Kinds }) {
  return (
    <section aria-labelledby="inbox-kinds">
      <h3 id="inbox-kinds">Open by kind</h3>
      <dl className="pm-keys">
        {kinds.map(({ kind, title, count }) => (
          <div key={kind}>
            <dt>{title}</dt>
            <dd className="pm-num">{count}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
