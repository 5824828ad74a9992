import { IconCheck } from '@tabler/icons-react'
import { Card } from '../../parts/card.tsx'
import { ScrollBox } from '../../parts/scroll-box.tsx'
import { mayDo, ROLE_WORDS, type Role } from '../../session/roles.ts'

const DEEDS: readonly (readonly [what: string, needs: Role])[] = [
  ['See invoices, payments, deliveries, wallets', 'viewer'],
  ['Decide exceptions, attach payments, resend deliveries, create invoices', 'support'],
  ['Keys, endpoints, wallets, settings', 'admin'],
  ['Invite, change roles, remove', 'owner'],
]
const ROLES = ['owner', 'admin', 'support', 'viewer'] as const

/** What each role allows, as the server enforces it. */
export function RoleMatrix() {
  return (
    <Card title="What each role may do" flush>
      <ScrollBox label="Roles">
        <table className="pm-table" aria-label="roles">
          <thead>
            <tr>
              <th scope="col">May</th>
              {ROLES.map((role) => (
                <th key={role} scope="col">
                  {ROLE_WORDS[role]}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {DEEDS.map(([what, needs]) => (
              <tr key={what}>
                <td data-label="May">{what}</td>
                {ROLES.map((role) => (
                  <td key={role} data-label={ROLE_WORDS[role]}>
                    {mayDo(role, needs) ? <IconCheck size={16} aria-label="yes" /> : <span className="pm-dim">no</span>}
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
