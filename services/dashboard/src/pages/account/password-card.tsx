import { Button, PasswordInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { api, trpc } from '../../api/trpc.ts'
import { DeedFailure } from '../../parts/action/deed-button.tsx'
import { useDeed } from '../../parts/action/use-deed.ts'
import { Card } from '../../parts/card.tsx'

/** Changes the own password. */
export function PasswordCard() {
  const [password, setPassword] = useState('')
  const [next, setNext] = useState('')
  const change = useDeed({
    call: (_ids, input: { password: string; next: string }) => api.auth.changePassword.mutate(input),
    done: 'Changed. Every other log-in of yours has ended.',
    onDone: () => {
      setPassword('')
      setNext('')
    },
    refresh: [trpc.auth.sessions.pathFilter()],
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void change.run({ password, next })
  }
  const { failure } = change
  return (
    <Card title="Password">
      <form className="pm-stack" onSubmit={submit}>
        <PasswordInput
          label="Present password"
          autoComplete="current-password"
          value={password}
          onChange={({ currentTarget }) => setPassword(currentTarget.value)}
          error={failure?.fields['password']}
          visibilityToggleButtonProps={{ 'aria-label': 'Show the present password' }}
          maw={360}
          required
        />
        <PasswordInput
          label="New password"
          description="At least 12 characters. Four words are good."
          autoComplete="new-password"
          value={next}
          onChange={({ currentTarget }) => setNext(currentTarget.value)}
          error={failure?.fields['next']}
          visibilityToggleButtonProps={{ 'aria-label': 'Show the new password' }}
          maw={360}
          required
        />
        <DeedFailure failure={failure === null || Object.keys(failure.fields).length > 0 ? null : failure} />
        <div className="pm-row">
          <Button type="submit" loading={change.busy}>
            Change the password
          </Button>
          <span className="pm-muted pm-small">Every other log-in of yours ends.</span>
        </div>
      </form>
    </Card>
  )
}
