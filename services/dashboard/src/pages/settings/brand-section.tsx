import { Button, TextInput } from '@mantine/core'
import { brandPalette, isColour } from '#shared/styles/brand-palette.ts'
import { LogoForm } from './logo-form.tsx'
import { ChangedElsewhere, SettingsForm } from './settings-form.tsx'
import { type Settings, useSettingsDraft } from './use-settings-draft.ts'
import '../../theme/brand.css'

const OURS = '#08363c'

/** Logo and colour of payers' pages. */
export function BrandSection({ settings }: { readonly settings: Settings }) {
  const draft = useSettingsDraft(settings)
  const stored = settings.brandColour ?? ''
  const text = draft.value('brandColour', stored).trim().toLowerCase()
  const isValid = text === '' || isColour(text)
  const save = () => void draft.run({ brandColour: text === '' ? null : text })
  return (
    <div className="pm-stack">
      <LogoForm settings={settings} />
      <SettingsForm title="Colour" draft={draft} onSave={isValid ? save : null}>
        <div>
          <div className="pm-row">
            <TextInput
              label="Colour of the checkout"
              description="# and six digits, like #0b4f57. Leave empty for ours."
              value={draft.value('brandColour', stored)}
              onChange={({ currentTarget }) => draft.type('brandColour', currentTarget.value)}
              error={isValid ? draft.failure?.fields['change.brandColour'] : 'Enter # and six digits, like #0b4f57.'}
              disabled={draft.refusal !== null}
              maxLength={7}
            />
            <input
              className="pm-colour-pick"
              type="color"
              aria-label="Choose the colour"
              value={text !== '' && isValid ? text : OURS}
              onChange={({ currentTarget }) => draft.type('brandColour', currentTarget.value)}
              disabled={draft.refusal !== null}
            />
            {text === '' || draft.refusal !== null ? null : (
              <Button variant="default" onClick={() => draft.type('brandColour', '')}>
                Use ours
              </Button>
            )}
          </div>
          <ChangedElsewhere now={draft.changedElsewhere('brandColour', (from) => from.brandColour ?? '')} />
        </div>
        {isValid ? <Samples colour={text === '' ? OURS : text} name={settings.name} /> : null}
      </SettingsForm>
    </div>
  )
}

function Samples({ colour, name }: { readonly colour: string; readonly name: string }) {
  const palette = brandPalette(colour)
  if (palette === null) return null
  const { bill, button } = palette
  const themes = [
    ['Light theme', bill.light],
    ['Dark theme', bill.dark],
  ] as const
  const isAdjusted = bill.light[0] !== colour || button !== colour
  return (
    <>
      <div className="pm-brand-samples">
        {themes.map(([theme, [ground, ink]]) => (
          <div key={theme} className="pm-brand-sample" style={{ background: ground, color: ink }}>
            <bdi dir="auto">{name}</bdi>
            <small>{theme}</small>
          </div>
        ))}
      </div>
      <p className="pm-small" role="status">
        {isAdjusted
          ? `Text would be hard to read in ${colour}: buttons and links use ${button} in the light theme, and the page head ${bill.light[0]}.`
          : 'Text can be read on this colour as it is.'}
      </p>
    </>
  )
}
