import { IconCheck } from '@tabler/icons-react'
import { Card } from '../../parts/card.tsx'
import { ScrollBox } from '../../parts/scroll-box.tsx'
import { mayDo, ROLE_LABELS, type Role } from '../../session/roles.ts'

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
