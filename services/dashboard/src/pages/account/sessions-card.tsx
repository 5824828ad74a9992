import { useQuery } from '@tanstack/react-query'
import { api, trpc } from '../../api/trpc.ts'
import { ActionButton } from '../../parts/action/action-button.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ToneBadge } from '../../parts/status-badge.tsx'
import { DataTable } from '../../parts/table/data-table.tsx'
import { Time } from '../../parts/time.tsx'
import { UntrustedText } from '../../parts/untrusted-text.tsx'

/** Active logins of this person; each can be ended here. */
export function SessionsCard() {
  const sessions = useQuery(trpc.auth.sessions.queryOptions())
  const end = useAction({
    call: (_ids, input: { loginId: string | null }) => api.auth.endSessions.mutate(input),
    done: 'Session ended.',
    refresh: [trpc.auth.sessions.pathFilter()],
  })
  return (
    <section className="pm-stack" aria-label="Active sessions">
      <div className="pm-row pm-gap-top">
        <h2>Active sessions</h2>
        <ActionButton action={end} input={{ loginId: null }} variant="default" size="xs">
          Log out all others
        </ActionButton>
      </div>
      <DataTable
        what="sessions"
        query={sessions}
        rows={sessions.data}
        idOf={({ loginId }) => loginId}
        empty={<EmptyState title="No active sessions." />}
        columns={[
          {
            header: 'Browser',
            namesItself: true,
            cell: ({ userAgent, isThis }) => (
              <span className="pm-row">
                <UntrustedText>{nameOf(userAgent)}</UntrustedText>
                {isThis ? <ToneBadge tone="paid">This session</ToneBadge> : null}
              </span>
            ),
          },
          { header: 'Address', cell: ({ ip }) => <UntrustedText mono>{ip}</UntrustedText> },
          { header: 'Logged in', cell: ({ loggedInAt }) => <Time at={loggedInAt} /> },
          { header: 'Last seen', wide: true, cell: ({ seenAt }) => <Time at={seenAt} /> },
          {
            header: 'Log out',
            namesItself: true,
            align: 'right',
            cell: ({ loginId, isThis }) =>
              isThis ? null : (
                <ActionButton action={end} input={{ loginId }} variant="default" size="xs">
                  Log out{' '}
                </ActionButton>
              ),
          },
        ]}
      />
    </section>
  )
}

/** `Firefox on Linux` from a browser's user agent; the text itself if it is unknown. */
function nameOf(userAgent: string): string {
  const browser = /(Firefox|Edg|OPR|Chrome|Safari)\//.exec(userAgent)?.[1]
  const system = /(Windows|Macintosh|Android|iPhone|iPad|Linux)/.exec(userAgent)?.[1]
  if (browser === undefined || system === undefined) return userAgent === '' ? 'unknown' : userAgent.slice(0, 60)
  const names: Readonly<Record<string, string>> = { Edg: 'Edge', OPR: 'Opera', Macintosh: 'macOS' }
  return `${names[browser] ?? browser} on ${names[system] ?? system}`
}
