import { Button, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Link, useLocation } from 'react-router'
import { api } from '../../api/trpc.ts'
import { Logo } from '../../frame/logo.tsx'
import { ActionFailure } from '../../parts/action/action-failure.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { bindText } from '../../parts/bind-text.ts'
import { Card } from '../../parts/card.tsx'
import { Page } from '../../parts/page.tsx'
import { PasswordField } from '../../parts/password-field.tsx'
import { UntrustedText } from '../../parts/untrusted-text.tsx'

/** A person who forgot the password: asks for a link, or chooses a new password with it. The token is in the fragment, so no server logs it. */
export function ResetPage() {
  const token = useLocation().hash.slice(1)
  return (
    <main className="pm-body pm-alone">
      <div className="pm-row pm-muted">
        <Logo /> Paymesh
      </div>
      <Page title="Reset your password">
        <Card>{token === '' ? <RequestLink /> : <Choose key={token} token={token} />}</Card>
      </Page>
    </main>
  )
}

function RequestLink() {
  const [email, setEmail] = useState('')
  const [sentTo, setSentTo] = useState<string | null>(null)
  const request = useAction({
    call: (_ids, input: { email: string }) => api.auth.requestReset.mutate(input),
    onDone: () => setSentTo(email.trim()),
  })
  if (sentTo !== null) {
    return (
      <div className="pm-stack" role="status">
        <p>
          If <UntrustedText>{sentTo}</UntrustedText> has an account here, a link is on its way. It works for 30 minutes,
          once.
        </p>
        <p className="pm-muted pm-small">
          Nothing arrived? Look in the spam folder, then ask again. Where this server sends no mail, ask your
          administrator (<code>paymesh operator reset-password</code>).
        </p>
        <Link to="/login">Back to log-in</Link>
      </div>
    )
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void request.run({ email })
  }
  return (
    <form className="pm-stack" onSubmit={submit}>
      <p>Enter your email address, and we send you a link for a new password.</p>
      <TextInput label="Email" type="email" autoComplete="username" {...bindText(email, setEmail)} required autoFocus />
      <ActionFailure failure={request.failure} />
      <Button type="submit" loading={request.busy}>
        Send the link
      </Button>
      <Link to="/login">Back to log-in</Link>
    </form>
  )
}

function Choose({ token }: { readonly token: string }) {
  const client = useQueryClient()
  const [password, setPassword] = useState('')
  const [isDone, setDone] = useState(false)
  const reset = useAction({
    call: (_ids, input: { token: string; password: string }) => api.auth.resetPassword.mutate(input),
    onDone: () => {
      client.clear()
      setDone(true)
    },
  })
  const { failure } = reset
  if (isDone) {
    return (
      <div className="pm-stack" role="status">
        <p>Your password was changed, and all your log-ins have ended. Your authenticator stays as it was.</p>
        <Link to="/login">Log in</Link>
      </div>
    )
  }
  const isGone = !/^[A-Za-z0-9_-]{43}$/.test(token) || failure?.code === 'NOT_FOUND'
  if (isGone) {
    return (
      <div className="pm-stack" role="alert">
        <p>This link is no longer valid. It was used, is older than 30 minutes, or the password was changed since.</p>
        <Link to="/reset">Ask for a new link</Link>
      </div>
    )
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void reset.run({ token, password })
  }
  return (
    <form className="pm-stack" onSubmit={submit}>
      <PasswordField
        label="New password"
        value={password}
        onType={setPassword}
        error={failure?.fields['password']}
        isNew
        autoFocus
      />
      <ActionFailure failure={failure === null || Object.keys(failure.fields).length > 0 ? null : failure} />
      <Button type="submit" loading={reset.busy}>
        Change the password
      </Button>
    </form>
  )
}
