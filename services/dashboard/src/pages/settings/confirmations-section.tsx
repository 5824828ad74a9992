import { TextInput } from '@mantine/core'
import { networkName } from '../../format/networks.ts'
import { ChangedElsewhere, SettingsForm } from './settings-form.tsx'
import { type Settings, useSettingsDraft } from './use-settings-draft.ts'

type Tier = Settings['confirmations'][number]

const shown = ({ own }: Tier) => (own === null ? '' : String(own))

/** What was typed: null = the usual figure, undefined = not understood. */
function typedTier(text: string, { knowsFinality }: Tier): number | 'finalized' | null | undefined {
  const plain = text.trim().toLowerCase()
  if (plain === '') return null
  if (plain === 'finalized') return knowsFinality ? 'finalized' : undefined
  return /^\d{1,5}$/.test(plain) && Number(plain) >= 1 && Number(plain) <= 10_000 ? Number(plain) : undefined
}

/** How many blocks a payment of each coin waits for; empty = the usual figure. */
export function ConfirmationsSection({ settings }: { readonly settings: Settings }) {
  const draft = useSettingsDraft(settings)
  const typed = settings.confirmations.filter(({ asset }) => draft.draft[asset] !== undefined)
  const faulty = typed.filter((tier) => typedTier(draft.value(tier.asset, ''), tier) === undefined)
  const save = () => {
    const tiers = typed.map((tier) => [tier.asset, typedTier(draft.value(tier.asset, ''), tier) ?? null] as const)
    void draft.run({ confirmations: Object.fromEntries(tiers) })
  }
  return (
    <SettingsForm title="Confirmations" draft={draft} onSave={faulty.length > 0 ? null : save}>
      <p className="pm-muted">
        More blocks are safer and slower. They count for invoices to come. Leave a field empty for the usual figure;
        some networks also know “finalized”.
      </p>
      <div className="pm-grid">
        {settings.confirmations.map((tier) => (
          <div key={tier.asset}>
            <TextInput
              label={`${tier.asset.split('_')[0]?.toUpperCase()} on ${networkName(tier.network)}`}
              description={`Usual: ${tier.usual.live}${tier.usual.test === tier.usual.live ? '' : `, in test mode ${tier.usual.test}`}`}
              placeholder={String(tier.usual.live)}
              value={draft.value(tier.asset, shown(tier))}
              onChange={({ currentTarget }) => draft.type(tier.asset, currentTarget.value)}
              error={
                faulty.includes(tier)
                  ? `A number from 1 to 10000${tier.knowsFinality ? ', or “finalized”' : ''}.`
                  : undefined
              }
              disabled={draft.refusal !== null}
              autoComplete="off"
            />
            <ChangedElsewhere
              now={draft.changedElsewhere(tier.asset, (from) => {
                const there = from.confirmations.find(({ asset }) => asset === tier.asset)
                return there === undefined ? '' : shown(there)
              })}
            />
          </div>
        ))}
      </div>
    </SettingsForm>
  )
}
