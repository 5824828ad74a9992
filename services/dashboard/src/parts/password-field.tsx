import { PasswordInput, type PasswordInputProps } from '@mantine/core'
import { bindText } from './bind-text.ts'

/** A password: one that exists, or a new one with advice. */
export function PasswordField(
  props: Pick<PasswordInputProps, 'maw' | 'autoFocus'> & {
    readonly 'data-autofocus'?: boolean
    readonly label: string
    readonly value: string
    readonly onType: (value: string) => void
    readonly error?: string | undefined
    readonly isNew?: true
    /** What its button shows; "the password" where the form has one. */
    readonly shows?: string
  },
) {
  const { label, value, onType, error, isNew, shows = 'the password', ...look } = props
  return (
    <PasswordInput
      {...look}
      {...bindText(value, onType)}
      {...(isNew === true && { description: 'At least 12 characters. A phrase of four words works well.' })}
      label={label}
      autoComplete={isNew === true ? 'new-password' : 'current-password'}
      error={error}
      visibilityToggleButtonProps={{ 'aria-label': `Show ${shows}` }}
      required
    />
  )
}
