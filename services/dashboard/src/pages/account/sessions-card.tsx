import { useQuery } from '@tanstack/react-query'
import { api, trpc } from '../../api/trpc.ts'
import { DeedButton } from '../../parts/action/deed-button.tsx'
import { useDeed } from '../../parts/action/use-deed.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ForeignText } from '../../parts/foreign-text.tsx'
import { ToneBadge } from '../../parts/status-badge.tsx'
import { DataTable } from '../../parts/table/data-table.tsx'
import { Time } from '../../parts/time.tsx'

/** Where this person is logged in; each log-in can be ended from here. */
export function SessionsCard() {
  const sessions = useQuery(trpc.auth.sessions.queryOptions())
  const end = useDeed({
    call: (_ids, input: { loginId: string | null }) => api.auth.endSessions.mutate(input),
    done: 'Ended.',
    refresh: [trpc.auth.sessions.pathFilter()],
  })
  return (
    <section className="pm-stack" aria-label="Where you are logged in">
      <div className="pm-row pm-gap-top">
        <h2>Where you are logged in</h2>
        <DeedButton deed={end} input={{ loginId: null }} variant="default" size="xs">
          End all others
        </DeedButton>
      </div>
      <DataTable
        what="log-ins"
        query={sessions}
        rows={sessions.data}
        idOf={({ loginId }) => loginId}
        empty={<EmptyState title="No log-in lives." />}
        columns={[
          {
            header: 'Browser',
            cell: ({ userAgent, isThis }) => (
              <span className="pm-row">
                <ForeignText>{nameOf(userAgent)}</ForeignText>
                {isThis ? <ToneBadge tone="paid">This one</ToneBadge> : null}
              </span>
            ),
          },
          { header: 'Address', cell: ({ ip }) => <ForeignText mono>{ip}</ForeignText> },
          { header: 'Logged in', cell: ({ loggedInAt }) => <Time at={loggedInAt} /> },
          { header: 'Last seen', wide: true, cell: ({ seenAt }) => <Time at={seenAt} /> },
          {
            header: 'End it',
            align: 'right',
            cell: ({ loginId, isThis }) =>
              isThis ? null : (
                <DeedButton deed={end} input={{ loginId }} variant="default" size="xs">
                  End
                </DeedButton>
              ),
          },
        ]}
      />
    </section>
  )
}

/** `Firefox on Linux` from what a browser says about itself; the text itself where nothing is known in it. */
function nameOf(userAgent: string): string {
  const browser = /(Firefox|Edg|OPR|Chrome|Safari)\//.exec(userAgent)?.[1]
  const system = /(Windows|Macintosh|Android|iPhone|iPad|Linux)/.exec(userAgent)?.[1]
  if (browser === undefined || system === undefined) return userAgent === '' ? 'unknown' : userAgent.slice(0, 60)
  const names: Readonly<Record<string, string>> = { Edg: 'Edge', OPR: 'Opera', Macintosh: 'macOS' }
  return `${names[browser] ?? browser} on ${names[system] ?? system}`
}
