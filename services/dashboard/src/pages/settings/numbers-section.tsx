import { NativeSelect, TextInput } from '@mantine/core'
import { FIAT_CODES } from '#shared/domain/enumerations.ts'
import { ZONE } from '../../parts/time.tsx'
import { type NumberField, sentencesOf, shownNumber, typedNumber } from './number-fields.ts'
import { ChangedElsewhere, SettingsForm } from './settings-form.tsx'
import { type Settings, type SettingsChange, useSettingsDraft } from './use-settings-draft.ts'

const ARS_SERIES = [
  { value: 'crypto', label: 'Crypto (stablecoin) rate' },
  { value: 'official', label: 'Official rate' },
]

interface NumbersSectionProps {
  readonly settings: Settings
  readonly fields: readonly NumberField[]
  readonly hasArsSeries?: boolean
}

/** What was entered in the browser, with what may be stored already. */
const ZONES = [...new Set(['UTC', ZONE, ...Intl.supportedValuesOf('timeZone')])]

/** Numeric rules, each as a sentence. */
export function NumbersSection({ settings, fields, hasArsSeries }: NumbersSectionProps) {
  const draft = useSettingsDraft(settings)
  const typed = fields.filter(({ key }) => draft.draft[key] !== undefined)
  const faulty = typed.filter((field) => typedNumber(field, draft.value(field.key, '')) === null)
  const { arsSeries: series, reportingCurrency: currency, timeZone } = draft.draft
  const save = () => {
    const numbers = typed.map((field) => [field.key, typedNumber(field, draft.value(field.key, ''))] as const)
    const change: SettingsChange = Object.fromEntries(numbers)
    void draft.run({
      ...change,
      ...(series === undefined ? {} : { arsSeries: series as Settings['arsSeries'] }),
      ...(currency === undefined ? {} : { reportingCurrency: currency as Settings['reportingCurrency'] }),
      ...(timeZone === undefined ? {} : { timeZone }),
    })
  }
  return (
    <SettingsForm
      title={hasArsSeries === true ? 'Pricing' : 'Payments'}
      draft={draft}
      onSave={faulty.length > 0 ? null : save}
    >
      {sentencesOf(fields).map((sentence) => (
        <NumberSentence key={sentence[0]?.key} fields={sentence} settings={settings} draft={draft} />
      ))}
      {hasArsSeries === true ? (
        <div>
          <NativeSelect
            label="ARS exchange rate"
            description="The two differ. Customers compare with the rate they know."
            data={ARS_SERIES}
            value={draft.value('arsSeries', settings.arsSeries)}
            onChange={({ currentTarget }) => draft.type('arsSeries', currentTarget.value)}
            disabled={draft.refusal !== null}
            maw={520}
          />
          <ChangedElsewhere now={draft.changedElsewhere('arsSeries', ({ arsSeries }) => arsSeries)} />
        </div>
      ) : null}
      {hasArsSeries === true ? (
        <div>
          <NativeSelect
            label="Reporting currency"
            description="Overview and reports add up invoices of all currencies in it. The exchange rate is stored with each invoice when it is created, so earlier invoices in other currencies are left out after a change."
            data={[...FIAT_CODES]}
            value={draft.value('reportingCurrency', settings.reportingCurrency)}
            onChange={({ currentTarget }) => draft.type('reportingCurrency', currentTarget.value)}
            disabled={draft.refusal !== null}
            maw={520}
          />
          <ChangedElsewhere
            now={draft.changedElsewhere('reportingCurrency', ({ reportingCurrency }) => reportingCurrency)}
          />
          <NativeSelect
            label="Time zone of reports"
            description="Days and months of the overview, of lists and of files are those of this time zone."
            data={ZONES}
            value={draft.value('timeZone', settings.timeZone || 'UTC')}
            onChange={({ currentTarget }) => draft.type('timeZone', currentTarget.value)}
            disabled={draft.refusal !== null}
            maw={520}
          />
          <ChangedElsewhere now={draft.changedElsewhere('timeZone', ({ timeZone: zone }) => zone)} />
        </div>
      ) : null}
    </SettingsForm>
  )
}

/** A rule as a sentence with its numbers in their places; below it what it does, its default, and what is wrong with a typed number. */
function NumberSentence(props: {
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
