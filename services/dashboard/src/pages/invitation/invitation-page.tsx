import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Link, useLocation, useNavigate } from 'react-router'
import { failureOf } from '../../api/failure.ts'
import { api, trpc } from '../../api/trpc.ts'
import { Logo } from '../../frame/logo.tsx'
import { DeedFailure } from '../../parts/action/deed-button.tsx'
import { useDeed } from '../../parts/action/use-deed.ts'
import { Card } from '../../parts/card.tsx'
import { ForeignText } from '../../parts/foreign-text.tsx'
import { LoadError } from '../../parts/load-error.tsx'
import { Page } from '../../parts/page.tsx'
import { ROLE_WORDS } from '../../session/roles.ts'

/** Join a workspace by the link of an invitation. The token stands behind the #, so no server logs it. */
export function InvitationPage() {
  const token = useLocation().hash.slice(1)
  const isToken = /^[A-Za-z0-9_-]{43}$/.test(token)
  const invitation = useQuery(trpc.auth.invitation.queryOptions({ token }, { enabled: isToken, retry: false }))
  return (
    <main className="pm-body pm-alone">
      <div className="pm-row pm-muted">
        <Logo /> Paymesh
      </div>
      <Page title="Join a workspace">
        {invitation.data === undefined ? null : <Join token={token} invitation={invitation.data} />}
        {!isToken || invitation.error !== null ? <Gone error={invitation.error} /> : null}
      </Page>
    </main>
  )
}

function Gone({ error }: { readonly error: unknown }) {
  const failure = error === null ? null : failureOf(error)
  if (failure?.transient === true) return <LoadError what="the invitation" error={error} />
  if (failure?.code === 'CONFLICT') {
    return (
      <Card>
        <p>{failure.message}</p>
      </Card>
    )
  }
  return (
    <Card>
      <p>This invitation is not open any more: it was used, taken back, or is older than seven days.</p>
      <p className="pm-muted">Ask who invited you for a new one.</p>
    </Card>
  )
}

interface JoinProps {
  readonly token: string
  readonly invitation: {
    readonly workspaceName: string
    readonly email: string
    readonly role: keyof typeof ROLE_WORDS
    readonly mustLogIn: boolean
  }
}

function Join({ token, invitation }: JoinProps) {
  const { workspaceName, email, role, mustLogIn } = invitation
  const client = useQueryClient()
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  // Who is asked to log in and did comes back without the question; then there is nothing to choose.
  const me = useQuery(trpc.auth.me.queryOptions(undefined, { retry: false, enabled: !mustLogIn }))
  const isPerson = me.data?.email === email
  const accept = useDeed({
    call: (_ids, input: { token: string; name: string | null; password: string | null }) =>
      api.auth.acceptInvitation.mutate(input),
    onDone: ({ workspaceId }) => {
      client.clear()
      void navigate(`/${workspaceId}/test/overview`, { replace: true })
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void accept.run(isPerson ? { token, name: null, password: null } : { token, name, password })
  }
  const back = `/invitation#${token}`
  const failure = accept.failure
  return (
    <Card>
      <form className="pm-stack" onSubmit={submit}>
        <p>
          You are invited to <ForeignText>{workspaceName}</ForeignText> as <b>{ROLE_WORDS[role]}</b>, as{' '}
          <ForeignText>{email}</ForeignText>.
        </p>
        {mustLogIn ? (
          <p>
            This address logs in here already. <Link to={`/login?back=${encodeURIComponent(back)}`}>Log in</Link> to
            join.
          </p>
        ) : null}
        {mustLogIn || isPerson ? null : (
          <>
            <TextInput
              label="Your name"
              autoComplete="name"
              value={name}
              onChange={({ currentTarget }) => setName(currentTarget.value)}
              error={failure?.fields['name']}
              maxLength={120}
              required
            />
            <PasswordInput
              label="Choose a password"
              description="At least 12 characters. Four words are good."
              autoComplete="new-password"
              value={password}
              onChange={({ currentTarget }) => setPassword(currentTarget.value)}
              error={failure?.fields['password']}
              visibilityToggleButtonProps={{ 'aria-label': 'Show the password' }}
              required
            />
          </>
        )}
        <DeedFailure failure={failure === null || Object.keys(failure.fields).length > 0 ? null : failure} />
        {mustLogIn ? null : (
          <Button type="submit" loading={accept.busy}>
            Join
          </Button>
        )}
      </form>
    </Card>
  )
}
