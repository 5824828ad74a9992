import type { ButtonProps } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Action } from './use-action.ts'

/** What an action's button and its question share. */
export interface ActionButtonProps<TInput> extends Omit<ButtonProps, 'onClick' | 'loading' | 'children'> {
  readonly action: Action<TInput>
  readonly input: TInput
  /** The label names the effect: "Accept 0.00096 BTC as paid". */
  readonly children: ReactNode
  /** Opens a confirmation first with the effects. Required for irreversible actions. */
  readonly confirm?: ReactNode
  /** Asks for a reason for the audit log, in the same confirmation. */
  readonly reason?: 'required' | 'optional'
  /** Label of the button that leaves everything as it is; "Cancel", unless the action itself is called that. */
  readonly dismiss?: string
  /** Colour of the button that confirms; `color` is that of the first one. */
  readonly confirmColor?: 'red'
  /** Why this person may not use it: the button stays visible and shows it. Null when they may. */
  readonly refusal?: string | null | undefined
}
