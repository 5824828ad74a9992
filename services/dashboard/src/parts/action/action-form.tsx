import { Button, type ButtonProps } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Failure } from '../../api/failure.ts'
import { ActionFailure } from './action-failure.tsx'

/**
 * A form that runs an action: its fields, why the last try failed, and its buttons. `submit` is the label of the button that sends it, null
 * where there is nothing to send.
 */
export function ActionForm(props: {
  readonly action: { readonly busy: boolean; readonly failure: Failure | null }
  readonly onSubmit: () => void
  readonly submit: ReactNode
  /** Of the button that sends it. */
  readonly look?: ButtonProps
  readonly disabled?: boolean
  /** Puts something around the button that sends it, such as why this person may not. */
  readonly around?: (button: ReactNode) => ReactNode
  /** Closes the form and sends nothing. */
  readonly onCancel?: () => void
  /** The label of that button. */
  readonly cancel?: string
  /** Further content of the row of buttons, before the one that sends. */
  readonly beside?: ReactNode
  /** Where in their row the buttons are; at its end unless stated. */
  readonly buttons?: 'end' | 'start'
  /** Fields that say themselves what is wrong with them: nothing is said twice. */
  readonly fields?: readonly string[]
  /** The form says what is missing; without it the browser does. */
  readonly noValidate?: true
  readonly className?: string
  readonly children: ReactNode
}) {
  const { action, look, disabled = false, onCancel, buttons = 'end', fields = [] } = props
  const { failure } = action
  const isSaid = failure !== null && fields.some((field) => field in failure.fields)
  const button =
    props.submit === null ? null : (
      <Button type="submit" loading={action.busy} disabled={disabled} {...look}>
        {props.submit}
      </Button>
    )
  const send = props.around?.(button) ?? button
  const cancel =
    onCancel === undefined ? null : (
      <Button variant="default" onClick={onCancel}>
        {props.cancel ?? 'Cancel'}
      </Button>
    )
  return (
    <form
      className={`pm-stack ${props.className ?? ''}`}
      noValidate={props.noValidate === true}
      onSubmit={(event) => {
        event.preventDefault()
        props.onSubmit()
      }}
    >
      {props.children}
      {isSaid ? null : <ActionFailure failure={failure} />}
      {buttons === 'start' ? (
        <div className="pm-row">
          {send}
          {cancel}
          {props.beside}
        </div>
      ) : (
        <div className="pm-row pm-end">
          {cancel}
          {props.beside}
          {send}
        </div>
      )}
    </form>
  )
}
