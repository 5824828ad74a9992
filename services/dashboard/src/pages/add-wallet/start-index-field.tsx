import { TextInput } from '@mantine/core'
import { NETWORKS } from '#shared/domain/networks.ts'
import type { KeyPreview } from './entered.ts'

/** The typed number; absent for an empty field and for anything that is not a whole number. */
export function startIndexOf(text: string): number | undefined {
  return /^\d{1,6}$/.test(text.trim()) ? Number(text.trim()) : undefined
}

/** The start index of a key that may have been used, with an explanation of what Paymesh can search. */
export function StartIndexField(props: {
  readonly search: KeyPreview['search']
  readonly required: boolean
  readonly value: string
  readonly onChange: (value: string) => void
}) {
  const { search, required, value, onChange } = props
  const names = (networks: readonly (typeof search.networks)[number][]) =>
    networks.map((each) => NETWORKS[each].name).join(', ')
  const searches = search.networks.length > 0
  return (
    <div className="pm-stack-small">
      <h2>Was this key used before?</h2>
      <p>
        {search.words} {searches ? `It searches ${names(search.networks)}.` : null}{' '}
        {searches && search.unsearched.length > 0 ? `No node is configured for ${names(search.unsearched)}.` : null}
      </p>
      <TextInput
        label="Start index"
        description={
          searches
            ? 'Leave this empty and Paymesh searches. To skip the search, enter the index of your wallet’s next unused receive address, counted from 0.'
            : 'The index of the next unused receive address in your wallet, counted from 0. Enter 0 for a wallet that has never received a payment.'
        }
        inputMode="numeric"
        value={value}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
        required={required}
        autoComplete="off"
      />
    </div>
  )
}
