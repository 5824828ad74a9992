import { TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { readAmount, showDecimal } from '../../format/amounts.ts'
import { bindText } from '../../parts/bind-text.ts'

const WITHOUT_DECIMALS = new Set(['CLP'])

/** A typed amount of a currency. */
export interface TypedAmount {
  readonly typed: string
  readonly type: (text: string) => void
  /** The parsed amount in words; null while the field is empty or invalid. */
  readonly echo: string | null
  readonly problem: string | null
  /** The plain decimal, or null; from then on the problem is shown. */
  readonly read: () => string | null
  /** The field was left: what was entered is checked, an empty field is not. */
  readonly leave: () => void
}

/** Parses a typed amount, which begins with `initial`. Never guesses: unclear input is reported. */
export function useAmount(currency: string, initial: string | null = null): TypedAmount {
  const [typed, setTyped] = useState(initial ?? '')
  const [isChecked, setChecked] = useState(false)
  const result = readAmount(typed, WITHOUT_DECIMALS.has(currency) ? 0 : 2)
  const value = 'value' in result ? result.value : null
  const complete = value === null ? null : withDecimals(value, WITHOUT_DECIMALS.has(currency) ? 0 : 2)
  return {
    typed,
    type: (text) => {
      setTyped(text)
      setChecked(false)
    },
    echo: complete === null ? null : `${showDecimal(complete)} ${currency}`,
    problem: isChecked && 'problem' in result ? result.problem : null,
    read: () => {
      setChecked(true)
      return value
    },
    leave: () => setChecked(typed.trim() !== ''),
  }
}

function withDecimals(value: string, decimals: number): string {
  const [whole = '0', rest = ''] = value.split('.')
  return decimals === 0 ? whole : `${whole}.${rest.padEnd(decimals, '0')}`
}

/** The field of a typed amount with the parsed amount below it. */
export function AmountField(props: {
  readonly label: string
  readonly amount: TypedAmount
  readonly problem?: string | undefined
  readonly required?: boolean
  /** Beside the field: its currency. */
  readonly beside?: ReactNode
}) {
  const { amount } = props
  const field = (
    <TextInput
      name="amount"
      label={props.label}
      required={props.required === true}
      inputMode="decimal"
      autoComplete="off"
      {...bindText(amount.typed, amount.type)}
      onBlur={amount.leave}
      description={amount.echo === null ? 'For example 1250 or 1250.50' : `= ${amount.echo}`}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      error={amount.problem ?? props.problem}
    />
  )
  if (props.beside === undefined) return field
  return (
    <div className="pm-money-fields">
      {field}
      {props.beside}
    </div>
  )
}
