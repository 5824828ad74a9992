import { Page } from '../../parts/page.tsx'
import { useSession } from '../../session/session.ts'
import { AuthenticatorCard } from './authenticator-card.tsx'
import { PasswordCard } from './password-card.tsx'
import { SessionsCard } from './sessions-card.tsx'

/** The signed-in person's own account: authenticator, password, active sessions. */
export function AccountPage() {
  const { email } = useSession()
  return (
    <Page title="Account security" beside={<span className="pm-muted">{email}</span>}>
      <div className="pm-stack">
        <AuthenticatorCard />
        <PasswordCard />
        <SessionsCard />
      </div>
    </Page>
  )
}
