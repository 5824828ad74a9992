import { useState } from 'react'
import { api, trpc } from '#services/dashboard/src/api/trpc.ts'
import { ActionForm } from '#services/dashboard/src/parts/action/action-form.tsx'
import { useAction } from '#services/dashboard/src/parts/action/use-action.ts'
import { Card } from '#services/dashboard/src/parts/card.tsx'
import { Page } from '#services/dashboard/src/parts/page.tsx'
import { useSession } from '#services/dashboard/src/session/session.ts'
import { PasswordField } from '../../parts/password-field.tsx'
import { AuthenticatorCard } from './authenticator-card.tsx'
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

/** Changes the person's own password. */
export function PasswordCard() {
  const [password, setPassword] = useState('')
  const [next, setNext] = useState('')
  const change = useAction({
    call: (_ids, input: { password: string; next: string }) => api.auth.changePassword.mutate(input),
    done: 'Password changed. You were logged out everywhere else.',
    onDone: () => {
      setPassword('')
      setNext('')
    },
    refresh: [trpc.auth.sessions.pathFilter()],
  })
  const { failure } = change
  return (
    <Card title="Password">
      <ActionForm
        action={change}
        onSubmit={() => void change.run({ password, next })}
        submit="Change password"
        buttons="start"
        fields={['password', 'next']}
        beside={<span className="pm-muted pm-small">You will be logged out everywhere else.</span>}
      >
        <PasswordField
          label="Current password"
          shows="the current password"
          value={password}
          onType={setPassword}
          error={failure?.fields['password']}
          maw={360}
        />
        <PasswordField
          label="New password"
          shows="the new password"
          value={next}
          onType={setNext}
          error={failure?.fields['next']}
          maw={360}
          isNew
        />
      </ActionForm>
    </Card>
  )
}
