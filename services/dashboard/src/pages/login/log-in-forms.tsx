import { Button, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import { api } from '../../api/trpc.ts'
import { ActionForm } from '../../parts/action/action-form.tsx'
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
    <LoginForm
      action={logIn}
      onSubmit={() => void logIn.run({ email, password })}
      submit="Log in"
      below={<Link to="/reset">Forgot your password?</Link>}
    >
      <TextInput label="Email" type="email" autoComplete="username" {...bindText(email, setEmail)} required autoFocus />
      <PasswordField label="Password" value={password} onType={setPassword} />
    </LoginForm>
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
  const { busy, failure } = give
  const isLate = failure?.code === 'UNAUTHORIZED'
  const shown = isLate ? { ...failure, message: 'Your log-in timed out. Please log in again.' } : failure
  return (
    <LoginForm
      action={{ busy, failure: shown }}
      onSubmit={() => void give.run({ code })}
      submit="Continue"
      below={
        <div className="pm-row">
          <Button variant="subtle" size="xs" onClick={props.onOther}>
            {isRecovery ? 'Use an authenticator code' : 'Use a recovery code'}
          </Button>
          <Button variant="subtle" size="xs" onClick={props.onBack}>
            Use a different account
          </Button>
        </div>
      }
    >
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
    </LoginForm>
  )
}

function LoginForm(props: Parameters<typeof ActionForm>[0] & { readonly below: ReactNode }) {
  const { below, action, ...form } = props
  // Which field is wrong is not said, and what people see here is no help to support.
  const failure = action.failure === null ? null : { ...action.failure, fields: {}, requestId: null }
  return (
    <Card>
      <div className="pm-stack">
        <ActionForm {...form} action={{ ...action, failure }} buttons="wide" />
        {below}
      </div>
    </Card>
  )
}
