import { Checkbox, NativeSelect, TextInput } from '@mantine/core'
import { Facts } from '../../parts/card.tsx'
import { ToneBadge } from '../../parts/status-badge.tsx'
import { UntrustedText } from '../../parts/untrusted-text.tsx'
import { ChangedElsewhere, SettingsForm } from './settings-form.tsx'
import { type Settings, useSettingsDraft } from './use-settings-draft.ts'

const HOURS = [
  { value: 'never', label: 'Never' },
  ...Array.from({ length: 24 }, (_, hour) => ({
    value: String(hour),
    label: `${String(hour).padStart(2, '0')}:00 UTC`,
  })),
]
const STATUS_TONES = { active: 'paid', restricted: 'partial', suspended: 'danger' } as const
const STATUS_LABELS = { active: 'Active', restricted: 'Restricted', suspended: 'Suspended' } as const

/** Name, contact for payers, two-factor requirement, and the limits set by the instance admin. */
export function BusinessSection({ settings }: { readonly settings: Settings }) {
  const draft = useSettingsDraft(settings)
  const { name, supportContact, requiresSecondFactor, digestHour } = draft.draft
  const storedHour = settings.digestHour === null ? 'never' : String(settings.digestHour)
  const save = () => {
    void draft.run({
      ...(name === undefined ? {} : { name }),
      ...(supportContact === undefined ? {} : { supportContact: supportContact.trim() === '' ? null : supportContact }),
      ...(requiresSecondFactor === undefined ? {} : { requiresSecondFactor: requiresSecondFactor === 'yes' }),
      ...(digestHour === undefined ? {} : { digestHour: digestHour === 'never' ? null : Number(digestHour) }),
    })
  }
  const isRequired = draft.value('requiresSecondFactor', settings.requiresSecondFactor ? 'yes' : 'no') === 'yes'
  return (
    <div className="pm-stack">
      <SettingsForm title="Business and security" draft={draft} onSave={save}>
        <div>
          <TextInput
            label="Name"
            description="Shown on the checkout and on receipts."
            value={draft.value('name', settings.name)}
            onChange={({ currentTarget }) => draft.type('name', currentTarget.value)}
            disabled={draft.refusal !== null}
            maxLength={120}
            maw={520}
            required
          />
          <ChangedElsewhere now={draft.changedElsewhere('name', (from) => from.name)} />
        </div>
        <div>
          <TextInput
            label="Support contact"
            description="Email address, phone number or https link. Shown on the checkout and receipts. Leave empty to hide."
            value={draft.value('supportContact', settings.supportContact ?? '')}
            onChange={({ currentTarget }) => draft.type('supportContact', currentTarget.value)}
            error={draft.failure?.fields['change.supportContact']}
            disabled={draft.refusal !== null}
            maxLength={200}
            maw={520}
          />
          <ChangedElsewhere now={draft.changedElsewhere('supportContact', (from) => from.supportContact ?? '')} />
        </div>
        <div>
          <Checkbox
            label="Require two-factor authentication"
            description="Members without it lose access. Turn on your own first."
            checked={isRequired}
            onChange={({ currentTarget }) => draft.type('requiresSecondFactor', currentTarget.checked ? 'yes' : 'no')}
            disabled={draft.refusal !== null}
          />
          <ChangedElsewhere
            now={draft.changedElsewhere('requiresSecondFactor', (from) => (from.requiresSecondFactor ? 'yes' : 'no'))}
          />
        </div>
        <div>
          <NativeSelect
            label="Daily exceptions email"
            description="Sent to the owner when something needs a decision."
            data={HOURS}
            value={draft.value('digestHour', storedHour)}
            onChange={({ currentTarget }) => draft.type('digestHour', currentTarget.value)}
            disabled={draft.refusal !== null}
            maw={520}
          />
          <ChangedElsewhere now={draft.changedElsewhere('digestHour', (from) => String(from.digestHour ?? 'never'))} />
        </div>
      </SettingsForm>
      <Facts
        facts={[
          [
            'State',
            <ToneBadge key="state" tone={STATUS_TONES[settings.status]}>
              {STATUS_LABELS[settings.status]}
            </ToneBadge>,
          ],
          ['Alerts are sent to', <UntrustedText key="mail">{settings.ownerEmail}</UntrustedText>],
          ['Invoices per month', settings.limits.invoicesPerMonth ?? 'no limit'],
          ['Payment links', settings.limits.paymentLinks ?? 'no limit'],
          ['Webhook endpoints', settings.limits.webhookEndpoints ?? 'no limit'],
        ]}
      />
    </div>
  )
}
