import { IconCheck } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, trpc } from '#services/dashboard/src/api/trpc.ts'
import { ActionButton } from '#services/dashboard/src/parts/action/action-button.tsx'
import { useAction } from '#services/dashboard/src/parts/action/use-action.ts'
import { Card } from '#services/dashboard/src/parts/card.tsx'
import { EmptyState } from '#services/dashboard/src/parts/empty-state.tsx'
import { Page } from '#services/dashboard/src/parts/page.tsx'
import { ScrollBox } from '#services/dashboard/src/parts/scroll-box.tsx'
import { ToneBadge } from '#services/dashboard/src/parts/status-badge.tsx'
import { DataTable } from '#services/dashboard/src/parts/table/data-table.tsx'
import { Time } from '#services/dashboard/src/parts/time.tsx'
import { UntrustedText } from '#services/dashboard/src/parts/untrusted-text.tsx'
import { mayDo, ROLE_LABELS, type Role } from '#services/dashboard/src/session/roles.ts'
import { useMay, useRefusal, useScope } from '#services/dashboard/src/session/scope.ts'
import { FormerKeys, type RemovedMember } from './former-keys.tsx'
import { InviteMember } from './invite-member.tsx'
import { MemberRole } from './member-role.tsx'

const OWNERS_ONLY = 'Only owners can add or remove members.'

/** Members, open invitations, and the rights of each role. */
export function TeamPage() {
  const scope = useScope()
  const refusal = useMay('owner') ? null : OWNERS_ONLY
  const noInvitations = useRefusal('owner', 'restricted')
  const team = useQuery(trpc.members.list.queryOptions(scope))
  const withdraw = useAction({
    call: (ids, input: { invitationId: string }) =>
      api.members.withdrawInvitation.mutate({ ...scope, ...ids, ...input }),
    done: 'Invitation withdrawn.',
    refresh: [trpc.members.pathFilter()],
  })
  const [removed, setRemoved] = useState<RemovedMember | null>(null)
  const invitations = team.data?.invitations ?? []
  return (
    <Page title="Team" actions={<InviteMember refusal={refusal ?? noInvitations} />}>
      <div className="pm-stack">
        <DataTable
          what="members"
          query={team}
          rows={team.data?.members}
          idOf={({ userId }) => userId}
          empty={<EmptyState title="No team members yet." text="Invite someone by email." />}
          columns={[
            {
              header: 'Name',
              namesItself: true,
              cell: ({ name, isYou }) => (
                <span className="pm-row">
                  <UntrustedText>{name}</UntrustedText>
                  {isYou ? <ToneBadge tone="new">You</ToneBadge> : null}
                </span>
              ),
            },
            { header: 'Email', namesItself: true, cell: ({ email }) => <UntrustedText>{email}</UntrustedText> },
            {
              header: 'Authenticator',
              wide: true,
              cell: ({ hasAuthenticator }) =>
                hasAuthenticator ? (
                  <ToneBadge tone="paid">Set up</ToneBadge>
                ) : (
                  <ToneBadge tone="partial">Password only</ToneBadge>
                ),
            },
            { header: 'Since', wide: true, cell: ({ since }) => <Time at={since} /> },
            {
              header: 'Role',
              align: 'right',
              cell: (member) => <MemberRole member={member} refusal={refusal} onRemoved={setRemoved} />,
            },
          ]}
        />
        {invitations.length === 0 ? null : (
          <section className="pm-stack" aria-label="Invitations">
            <h2>Invitations</h2>
            <DataTable
              what="invitations"
              query={team}
              rows={invitations}
              idOf={({ id }) => id}
              empty={null}
              columns={[
                { header: 'Email', namesItself: true, cell: ({ email }) => <UntrustedText>{email}</UntrustedText> },
                { header: 'Role', cell: ({ role }) => ROLE_LABELS[role] },
                {
                  header: 'Invited by',
                  wide: true,
                  cell: ({ invitedBy }) => <UntrustedText>{invitedBy}</UntrustedText>,
                },
                { header: 'Expires', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
                {
                  header: 'Withdraw',
                  namesItself: true,
                  align: 'right',
                  cell: ({ id }) => (
                    <ActionButton
                      action={withdraw}
                      input={{ invitationId: id }}
                      size="xs"
                      variant="default"
                      refusal={refusal}
                    >
                      Withdraw{' '}
                    </ActionButton>
                  ),
                },
              ]}
            />
          </section>
        )}
        <RoleMatrix />
        <FormerKeys removed={removed} onClose={() => setRemoved(null)} />
      </div>
    </Page>
  )
}

const ACTIONS: readonly (readonly [what: string, needs: Role])[] = [
  ['View invoices, payments, deliveries, wallets', 'viewer'],
  ['Resolve exceptions, apply payments, resend deliveries, create invoices', 'support'],
  ['Manage API keys, endpoints, wallets and settings', 'admin'],
  ['Invite and remove members, change roles', 'owner'],
]
const ROLES = ['owner', 'admin', 'support', 'viewer'] as const

/** The rights of each role, as the server enforces them. */
export function RoleMatrix() {
  return (
    <Card title="Role permissions" flush>
      <ScrollBox label="Roles">
        <table className="pm-table pm-table-plain" aria-label="roles">
          <thead>
            <tr>
              <th scope="col">Permission</th>
              {ROLES.map((role) => (
                <th key={role} scope="col">
                  {ROLE_LABELS[role]}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {ACTIONS.map(([what, needs]) => (
              <tr key={what}>
                <td>{what}</td>
                {ROLES.map((role) => (
                  <td key={role}>
                    {mayDo(role, needs) ? (
                      <IconCheck size={16} aria-label="yes" />
                    ) : (
                      <span className="pm-dim" aria-label="no" role="img">
                        {' '}
                        –{' '}
                      </span>
                    )}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollBox>
    </Card>
  )
}
