import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { SESSION_KEY } from '../../api/query-client.ts'
import { api, trpc } from '../../api/trpc.ts'
import { ActionForm } from '../action/action-form.tsx'
import { useAction } from '../action/use-action.ts'
import { bindText } from '../bind-text.ts'
import { CopyText } from '../copy-text.tsx'
import { PasswordField } from '../password-field.tsx'
import { QrCode } from '../qr-code.tsx'

interface EnrolmentProps {
  /** There is an authenticator already: one of its codes, or a recovery code, is required. */
  readonly isReplacing: boolean
  readonly onDone: (recoveryCodes: readonly string[]) => void
  readonly onCancel: () => void
}

/** Two steps: confirm your identity, then scan and confirm the new authenticator. */
export function Enrolment({ isReplacing, onDone, onCancel }: EnrolmentProps) {
  const [shown, setShown] = useState<{ readonly secret: string; readonly uri: string } | null>(null)
  return shown === null ? (
    <Begin isReplacing={isReplacing} onShown={setShown} onCancel={onCancel} />
  ) : (
    <Prove shown={shown} onDone={onDone} onCancel={onCancel} />
  )
}

function Begin(props: {
  readonly isReplacing: boolean
  readonly onShown: (shown: { readonly secret: string; readonly uri: string }) => void
  readonly onCancel: () => void
}) {
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const begin = useAction({
    call: (_ids, input: { password: string; code: string | null }) => api.auth.beginEnrolment.mutate(input),
    onDone: props.onShown,
  })
  const { failure } = begin
  return (
    <ActionForm
      action={begin}
      onSubmit={() => void begin.run({ password, code: props.isReplacing ? code : null })}
      submit="Continue"
      onCancel={props.onCancel}
      buttons="start"
      fields={['password', 'code']}
    >
      <PasswordField
        label="Your password"
        value={password}
        onType={setPassword}
        error={failure?.fields['password']}
        maw={360}
        data-autofocus
      />
      {props.isReplacing ? (
        <TextInput
          label="Current authenticator code, or a recovery code"
          autoComplete="one-time-code"
          {...bindText(code, setCode)}
          error={failure?.fields['code']}
          maw={360}
          required
        />
      ) : null}
    </ActionForm>
  )
}

function Prove(props: {
  readonly shown: { readonly secret: string; readonly uri: string }
  readonly onDone: (recoveryCodes: readonly string[]) => void
  readonly onCancel: () => void
}) {
  const { secret, uri } = props.shown
  const [code, setCode] = useState('')
  const confirm = useAction({
    call: (_ids, input: { code: string }) => api.auth.confirmEnrolment.mutate(input),
    done: 'Two-factor authentication is on.',
    onDone: ({ recoveryCodes }) => props.onDone(recoveryCodes),
    refresh: [trpc.auth.pathFilter(), { queryKey: SESSION_KEY }],
  })
  const { failure } = confirm
  return (
    <ActionForm
      action={confirm}
      onSubmit={() => void confirm.run({ code })}
      submit="Turn on"
      onCancel={props.onCancel}
      buttons="start"
      fields={['code']}
    >
      <p>Scan this with your authenticator app, or enter the key manually.</p>
      <QrCode text={uri} label="Code for your authenticator app" />
      <CopyText text={secret} what="secret" />
      <TextInput
        label="6-digit code from the app"
        inputMode="numeric"
        autoComplete="one-time-code"
        {...bindText(code, setCode)}
        error={failure?.fields['code']}
        maw={360}
        required
      />
    </ActionForm>
  )
}
