import { TextInput } from '@mantine/core'
import { confirmationsText, parseConfirmations } from '#shared/contracts/confirmation-text.ts'
import { tiersFault } from '#shared/contracts/tiers-fault.ts'
import { NETWORKS } from '#shared/domain/networks.ts'
import { ChangedElsewhere, SettingsForm } from './settings-form.tsx'
import { type Settings, useSettingsDraft } from './use-settings-draft.ts'

type Tier = Settings['confirmations'][number]

const shown = ({ own }: Tier) => (own === null ? '' : confirmationsText(own))

/** Result of the typed text: null = the default table; otherwise the value to send, or the fault. */
function typedTier(text: string, { knowsFinality }: Tier): { given: Tier['own'] } | { fault: string } {
  if (text.trim() === '') return { given: null }
  const given = parseConfirmations(text)
  if (given === null) return { fault: 'Enter a number, or tiers such as “1, 100: 2, 10000: 6”.' }
  const tiers = typeof given === 'number' || given === 'finalized' ? [{ fromUsd: 0, confirmations: given }] : given
  const fault = tiersFault(tiers, knowsFinality)
  return fault === null ? { given: typeof given === 'object' ? [...given] : given } : { fault }
}

/** The default tables of both modes, the second where it differs. */
function usualText({ usual }: Tier): string {
  const [live, test] = [confirmationsText(usual.live), confirmationsText(usual.test)].map((text) =>
    text.replace(/^0: /, ''),
  )
  return `Default: ${live}${test === live ? '' : `, in test mode ${test}`}`
}

/** Confirmations required for each coin, by the value of the invoice; empty = the default table. */
export function ConfirmationsSection({ settings }: { readonly settings: Settings }) {
  const draft = useSettingsDraft(settings)
  const typed = settings.confirmations.filter(({ asset }) => draft.draft[asset] !== undefined)
  const read = typed.map((tier) => ({ tier, typed: typedTier(draft.value(tier.asset, ''), tier) }))
  const faults = new Map(read.flatMap((one) => ('fault' in one.typed ? [[one.tier.asset, one.typed.fault]] : [])))
  const save = () => {
    const tiers = read.flatMap((one) => ('given' in one.typed ? [[one.tier.asset, one.typed.given] as const] : []))
    void draft.run({ confirmations: Object.fromEntries(tiers) })
  }
  return (
    <SettingsForm title="Confirmations" draft={draft} onSave={faults.size > 0 ? null : save}>
      <p className="pm-muted">
        More confirmations are safer but slower. Changes apply to new invoices. Enter one number for all invoices, or
        tiers by value in US dollars: “1, 100: 2, 10000: 6” requires 1 confirmation, 2 from 100 USD and 6 from 10,000
        USD. Some networks also accept “finalized”. Leave a field empty for the default.
      </p>
      <div className="pm-grid">
        {settings.confirmations.map((tier) => (
          <div key={tier.asset}>
            <TextInput
              label={`${tier.asset.split('_')[0]?.toUpperCase()} on ${NETWORKS[tier.network].name}`}
              description={usualText(tier)}
              placeholder={confirmationsText(tier.usual.live).replace(/^0: /, '')}
              value={draft.value(tier.asset, shown(tier))}
              onChange={({ currentTarget }) => draft.type(tier.asset, currentTarget.value)}
              error={faults.get(tier.asset)}
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
