import { TextInput } from '@mantine/core'
import { type NumberField, shownNumber, typedNumber } from './number-fields.ts'
import { ChangedElsewhere } from './settings-form.tsx'
import type { Settings, useSettingsDraft } from './use-settings-draft.ts'

/** A rule as a sentence with its numbers in their places; below it what it does, its default, and what is wrong with a typed number. */
export function NumberSentence(props: {
  readonly fields: readonly NumberField[]
  readonly settings: Settings
  readonly draft: ReturnType<typeof useSettingsDraft>
}) {
  const { fields, settings, draft } = props
  const shown = (field: NumberField) => draft.value(field.key, shownNumber(field, settings))
  const faulty = fields.filter((field) => typedNumber(field, shown(field)) === null)
  const id = `rule-${fields[0]?.key}`
  return (
    <div className="pm-rule">
      <p className="pm-rule-sentence">
        {fields.map((field) => (
          <span key={field.key} className="pm-rule-part">
            <label htmlFor={`field-${field.key}`}>{field.before}</label>
            <TextInput
              id={`field-${field.key}`}
              aria-label={`${field.before} … ${field.after}`}
              aria-describedby={faulty.includes(field) ? `${id}-effect ${id}-fault` : `${id}-effect`}
              value={shown(field)}
              onChange={({ currentTarget }) => draft.type(field.key, currentTarget.value)}
              error={faulty.includes(field)}
              disabled={draft.refusal !== null}
              inputMode="decimal"
              autoComplete="off"
              className="pm-rule-number"
            />
            <span>{field.after}</span>
          </span>
        ))}
      </p>
      <p id={`${id}-effect`} className="pm-muted pm-small">
        {fields.map(({ effect }) => effect).join(' ')} Default: {fields.map(({ usual }) => usual).join(' and ')}.
      </p>
      {faulty.length === 0 ? null : (
        <p id={`${id}-fault`} role="alert" className="pm-problem pm-small">
          {faulty.map(({ min, max }) => `Enter a number from ${min} to ${max}.`).join(' ')}
        </p>
      )}
      {fields.map((field) => (
        <ChangedElsewhere key={field.key} now={draft.changedElsewhere(field.key, (from) => shownNumber(field, from))} />
      ))}
    </div>
  )
}
