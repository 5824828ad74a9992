import { NativeSelect } from '@mantine/core'
import { FIAT_CODES } from '#shared/domain/enumerations.ts'
import { type NumberField, sentencesOf, typedNumber } from './number-fields.ts'
import { NumberSentence } from './number-sentence.tsx'
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

/** Numeric rules, each as a sentence. */
export function NumbersSection({ settings, fields, hasArsSeries }: NumbersSectionProps) {
  const draft = useSettingsDraft(settings)
  const typed = fields.filter(({ key }) => draft.draft[key] !== undefined)
  const faulty = typed.filter((field) => typedNumber(field, draft.value(field.key, '')) === null)
  const { arsSeries: series, reportingCurrency: currency } = draft.draft
  const save = () => {
    const numbers = typed.map((field) => [field.key, typedNumber(field, draft.value(field.key, ''))] as const)
    const change: SettingsChange = Object.fromEntries(numbers)
    void draft.run({
      ...change,
      ...(series === undefined ? {} : { arsSeries: series as Settings['arsSeries'] }),
      ...(currency === undefined ? {} : { reportingCurrency: currency as Settings['reportingCurrency'] }),
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
        </div>
      ) : null}
    </SettingsForm>
  )
}
