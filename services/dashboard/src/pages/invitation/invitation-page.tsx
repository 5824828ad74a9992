import { Button, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Link, useLocation, useNavigate } from 'react-router'
import { failureOf } from '../../api/failure.ts'
import { api, trpc } from '../../api/trpc.ts'
import { Logo } from '../../frame/logo.tsx'
import { ActionFailure } from '../../parts/action/action-failure.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { bindText } from '../../parts/bind-text.ts'
import { Card } from '../../parts/card.tsx'
import { LoadError } from '../../parts/load-error.tsx'
import { Page } from '../../parts/page.tsx'
import { PasswordField } from '../../parts/password-field.tsx'
import { UntrustedText } from '../../parts/untrusted-text.tsx'
import { ROLE_LABELS } from '../../session/roles.ts'

/** Join a workspace with the link of an invitation. The token is in the URL fragment, so no server logs it. */
export function InvitationPage() {
  const token = useLocation().hash.slice(1)
  const isToken = /^[A-Za-z0-9_-]{43}$/.test(token)
  const invitation = useQuery(trpc.auth.invitation.queryOptions({ token }, { enabled: isToken }))
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
  return (
    <Card>
      {failure?.code === 'CONFLICT' ? (
        <p>{failure.message}</p>
      ) : (
        <>
          <p>This invitation is no longer valid. It was used, withdrawn, or is older than seven days.</p>
          <p className="pm-muted">Ask the person who invited you for a new one.</p>
        </>
      )}
    </Card>
  )
}

interface JoinProps {
  readonly token: string
  readonly invitation: {
    readonly workspaceName: string
    readonly email: string
    readonly role: keyof typeof ROLE_LABELS
    readonly mustLogIn: boolean
  }
}

function Join({ token, invitation }: JoinProps) {
  const { workspaceName, email, role, mustLogIn } = invitation
  const client = useQueryClient()
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  // After a login the page reloads without the query; then there is nothing to choose.
  const me = useQuery(trpc.auth.me.queryOptions(undefined, { enabled: !mustLogIn }))
  const isPerson = me.data?.email === email
  const accept = useAction({
    call: (_ids, input: { token: string; name: string | null; password: string | null }) =>
      api.auth.acceptInvitation.mutate(input),
    onDone: ({ workspaceId }) => {
      client.clear()
      void navigate(`/${workspaceId}/test/overview`, { replace: true })
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void accept.run({ token, ...(isPerson ? { name: null, password: null } : { name, password }) })
  }
  const { failure } = accept
  return (
    <Card>
      <form className="pm-stack" onSubmit={submit}>
        <p>
          You are invited to <UntrustedText>{workspaceName}</UntrustedText> as <b>{ROLE_LABELS[role]}</b> with the
          address <UntrustedText>{email}</UntrustedText>.
        </p>
        {mustLogIn ? (
          <p>
            You already have an account here. <Link to={`/login?back=%2Finvitation%23${token}`}>Log in</Link> to join.
          </p>
        ) : (
          <>
            {isPerson ? null : (
              <>
                <TextInput
                  label="Your name"
                  autoComplete="name"
                  {...bindText(name, setName)}
                  error={failure?.fields['name']}
                  maxLength={120}
                  required
                />
                <PasswordField
                  label="Choose a password"
                  value={password}
                  onType={setPassword}
                  error={failure?.fields['password']}
                  isNew
                />
              </>
            )}
            <ActionFailure failure={failure === null || Object.keys(failure.fields).length > 0 ? null : failure} />
            <Button type="submit" loading={accept.busy}>
              Join
            </Button>
          </>
        )}
      </form>
    </Card>
  )
}
