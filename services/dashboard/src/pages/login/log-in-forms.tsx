import { Button, TextInput } from '@mantine/core'
import { type FormEvent, type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import { api } from '../../api/trpc.ts'
import { ActionFailure } from '../../parts/action/action-failure.tsx'
import { useAction } from '../../parts/action/use-action.ts'
import { bindText } from '../../parts/bind-text.ts'
import { Card } from '../../parts/card.tsx'
import { PasswordField } from '../../parts/password-field.tsx'

/** What a log-in asks for next. */
export type LogInStep = 'password' | 'code' | 'recovery'
type Next = { readonly next: 'code' | 'done' }

/** Password, then a code if there is an authenticator, or one of the recovery codes. `onDone` runs when the person is logged in. */
export function LogInForms(props: {
  readonly step: LogInStep
  readonly onStep: (step: LogInStep) => void
  readonly onDone: () => void
}) {
  const { step, onStep, onDone } = props
  const entered = ({ next }: Next) => (next === 'code' ? onStep('code') : onDone())
  const startOver = async () => {
    await api.auth.logOut.mutate({}).catch(() => {})
    onStep('password')
  }
  if (step === 'password') return <PasswordForm onDone={entered} />
  return (
    <CodeForm
      key={step}
      isRecovery={step === 'recovery'}
      onDone={entered}
      onOther={() => onStep(step === 'code' ? 'recovery' : 'code')}
      onBack={() => void startOver()}
    />
  )
}

function PasswordForm({ onDone }: { readonly onDone: (next: Next) => void }) {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const logIn = useAction({
    call: (_ids, input: { email: string; password: string }) => api.auth.logIn.mutate(input),
    onDone,
  })
  return (
    <LoginCard onSubmit={() => void logIn.run({ email, password })}>
      <TextInput label="Email" type="email" autoComplete="username" {...bindText(email, setEmail)} required autoFocus />
      <PasswordField label="Password" value={password} onType={setPassword} />
      <ActionFailure failure={logIn.failure === null ? null : { ...logIn.failure, fields: {}, requestId: null }} />
      <Button type="submit" loading={logIn.busy}>
        Log in
      </Button>
      <Link to="/reset">Forgot your password?</Link>
    </LoginCard>
  )
}

function CodeForm(props: {
  readonly isRecovery: boolean
  readonly onDone: (next: Next) => void
  readonly onOther: () => void
  readonly onBack: () => void
}) {
  const { isRecovery } = props
  const [code, setCode] = useState('')
  const give = useAction({
    call: (_ids, input: { code: string }) =>
      isRecovery ? api.auth.giveRecoveryCode.mutate(input) : api.auth.giveCode.mutate(input),
    onDone: props.onDone,
  })
  const tooLate = give.failure?.code === 'UNAUTHORIZED'
  const failure =
    tooLate && give.failure !== null
      ? { ...give.failure, message: 'Your log-in timed out. Please log in again.' }
      : give.failure
  return (
    <LoginCard onSubmit={() => void give.run({ code })}>
      <TextInput
        label={isRecovery ? 'Recovery code' : 'Authenticator code'}
        description={
          isRecovery ? 'One of your ten recovery codes. Each works once.' : '6-digit code. You can paste it.'
        }
        inputMode={isRecovery ? 'text' : 'numeric'}
        autoComplete="one-time-code"
        {...bindText(code, setCode)}
        required
        autoFocus
      />
      <ActionFailure failure={failure === null ? null : { ...failure, fields: {}, requestId: null }} />
      <Button type="submit" loading={give.busy}>
        Continue
      </Button>
      <div className="pm-row">
        <Button variant="subtle" size="xs" onClick={props.onOther}>
          {isRecovery ? 'Use an authenticator code' : 'Use a recovery code'}
        </Button>
        <Button variant="subtle" size="xs" onClick={props.onBack}>
          Use a different account
        </Button>
      </div>
    </LoginCard>
  )
}

function LoginCard({ onSubmit, children }: { readonly onSubmit: () => void; readonly children: ReactNode }) {
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onSubmit()
  }
  return (
    <Card>
      <form className="pm-stack" onSubmit={submit}>
        {children}
      </form>
    </Card>
  )
}
