import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, trpc } from '../../api/trpc.ts'
import { DeedButton } from '../../parts/action/deed-button.tsx'
import { useDeed } from '../../parts/action/use-deed.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ForeignText } from '../../parts/foreign-text.tsx'
import { Page } from '../../parts/page.tsx'
import { ToneBadge } from '../../parts/status-badge.tsx'
import { DataTable } from '../../parts/table/data-table.tsx'
import { Time } from '../../parts/time.tsx'
import { ROLE_WORDS } from '../../session/roles.ts'
import { useMay, useScope } from '../../session/scope.ts'
import { FormerKeys, type RemovedMember } from './former-keys.tsx'
import { InviteMember } from './invite-member.tsx'
import { MemberRole } from './member-role.tsx'
import { RoleMatrix } from './role-matrix.tsx'

const OWNERS_ONLY = 'Only an owner changes who belongs to the workspace.'

/** Who may do what: members, open invitations, and what each role allows. */
export function TeamPage() {
  const scope = useScope()
  const refusal = useMay('owner') ? null : OWNERS_ONLY
  const team = useQuery(trpc.members.list.queryOptions(scope))
  const withdraw = useDeed({
    call: (ids, input: { invitationId: string }) =>
      api.members.withdrawInvitation.mutate({ ...scope, ...ids, ...input }),
    done: 'Taken back. The link leads nowhere now.',
    refresh: [trpc.members.pathFilter()],
  })
  const [removed, setRemoved] = useState<RemovedMember | null>(null)
  const invitations = team.data?.invitations ?? []
  return (
    <Page title="Team" actions={<InviteMember refusal={refusal} />}>
      <div className="pm-stack">
        <DataTable
          what="members"
          query={team}
          rows={team.data?.members}
          idOf={({ userId }) => userId}
          empty={<EmptyState title="Nobody logs in to this workspace yet." text="Invite somebody by mail." />}
          columns={[
            {
              header: 'Name',
              cell: ({ name, isYou }) => (
                <span className="pm-row">
                  <ForeignText>{name}</ForeignText>
                  {isYou ? <ToneBadge tone="new">You</ToneBadge> : null}
                </span>
              ),
            },
            { header: 'E-mail', cell: ({ email }) => <ForeignText>{email}</ForeignText> },
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
          <section className="pm-stack" aria-label="Invited">
            <h2>Invited</h2>
            <DataTable
              what="invitations"
              query={team}
              rows={invitations}
              idOf={({ id }) => id}
              empty={null}
              columns={[
                { header: 'E-mail', cell: ({ email }) => <ForeignText>{email}</ForeignText> },
                { header: 'Role', cell: ({ role }) => ROLE_WORDS[role] },
                { header: 'By', wide: true, cell: ({ invitedBy }) => <ForeignText>{invitedBy}</ForeignText> },
                { header: 'Good until', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
                {
                  header: 'Take back',
                  align: 'right',
                  cell: ({ id }) => (
                    <DeedButton
                      deed={withdraw}
                      input={{ invitationId: id }}
                      size="xs"
                      variant="default"
                      refusal={refusal}
                    >
                      Take back
                    </DeedButton>
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
