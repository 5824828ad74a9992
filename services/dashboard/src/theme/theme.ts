import {
  type CSSVariablesResolver,
  createTheme,
  type MantineColorsTuple,
  type MenuProps,
  type ModalProps,
  type TooltipProps,
  type VariantColorsResolver,
} from '@mantine/core'

/** Petrol, lightest first; shade 7 is the brand colour on paper. */
const petrol: MantineColorsTuple = [
  '#eef6f5',
  '#ddebea',
  '#b9d6d5',
  '#93c0bf',
  '#6fabac',
  '#4b9598',
  '#0a7683',
  '#0b4f57',
  '#083f46',
  '#08363c',
]

/** Colours that a component may use by name, as tokens, so that both themes keep their contrast. */
const TONES: Readonly<Record<string, { ink: string; soft: string; fill: string; hover: string; onFill: string }>> = {
  petrol: {
    ink: 'var(--brand)',
    soft: 'var(--brand-soft)',
    fill: 'var(--brand)',
    hover: 'var(--brand-hover)',
    onFill: 'var(--on-brand)',
  },
  red: {
    ink: 'var(--danger)',
    soft: 'var(--danger-bg)',
    fill: 'var(--danger)',
    hover: 'var(--danger)',
    onFill: 'var(--surface)',
  },
}
const fallbackTone = TONES['petrol']

const variantColorResolver: VariantColorsResolver = ({ color, theme, variant }) => {
  const tone = TONES[color ?? theme.primaryColor] ?? fallbackTone
  if (tone === undefined) throw new Error('the theme has no petrol')
  const { ink, soft, fill, hover, onFill } = tone
  const clear = '1px solid transparent'
  if (variant === 'filled') return { background: fill, hover, color: onFill, border: clear }
  if (variant === 'light') return { background: soft, hover: soft, color: ink, border: clear }
  if (variant === 'outline')
    return { background: 'transparent', hover: 'var(--sunken)', color: ink, border: '1px solid currentColor' }
  if (variant === 'default') {
    return {
      background: 'var(--surface)',
      hover: 'var(--sunken)',
      color: 'var(--ink)',
      border: '1px solid var(--line-strong)',
    }
  }
  return { background: 'transparent', hover: 'var(--sunken)', color: ink, border: clear }
}

/** Mantine's variables follow the tokens, so that its components and ours look the same in both themes. */
export const cssVariablesResolver: CSSVariablesResolver = () => {
  const variables = {
    '--mantine-color-body': 'var(--paper)',
    '--mantine-color-text': 'var(--ink)',
    '--mantine-color-dimmed': 'var(--ink-2)',
    '--mantine-color-bright': 'var(--ink)',
    '--mantine-color-placeholder': 'var(--ink-3)',
    '--mantine-color-error': 'var(--danger)',
    '--mantine-color-anchor': 'var(--brand)',
    '--mantine-color-default': 'var(--surface)',
    '--mantine-color-default-hover': 'var(--sunken)',
    '--mantine-color-default-color': 'var(--ink)',
    '--mantine-color-default-border': 'var(--line-strong)',
    '--mantine-primary-color-filled': 'var(--brand)',
    '--mantine-primary-color-filled-hover': 'var(--brand-hover)',
    '--mantine-primary-color-contrast': 'var(--on-brand)',
    '--mantine-primary-color-light': 'var(--brand-soft)',
    '--mantine-primary-color-light-color': 'var(--brand)',
    '--mantine-primary-color-light-hover': 'var(--brand-soft)',
    '--mantine-color-petrol-filled': 'var(--brand)',
    '--mantine-color-petrol-light': 'var(--brand-soft)',
    '--mantine-color-petrol-light-color': 'var(--brand)',
    '--mantine-color-petrol-outline': 'var(--brand)',
  }
  return { variables: {}, light: variables, dark: variables }
}

/** The styles of every Mantine component. */
export const theme = createTheme({
  primaryColor: 'petrol',
  primaryShade: 7,
  colors: { petrol },
  defaultRadius: 8,
  fontFamily: 'var(--sans)',
  fontFamilyMonospace: 'var(--mono)',
  fontSizes: { xs: '0.78125rem', sm: '0.875rem', md: '0.875rem' },
  lineHeights: { xs: '1.4', sm: '1.43', md: '1.43' },
  respectReducedMotion: true,
  cursorType: 'pointer',
  focusRing: 'auto',
  variantColorResolver,
  // Plain properties: the components' own `extend` would load every one of them with the first page.
  components: {
    // The placeholder is a child that a menu must not have; without it the first entry gets the focus.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } satisfies Partial<MenuProps> },
    Modal: {
      defaultProps: {
        closeButtonProps: { 'aria-label': 'Close' },
        centered: true,
        radius: 12,
        transitionProps: { duration: 120 },
        // Its header is not a second banner of the page.
        attributes: { header: { role: 'presentation' } },
      } satisfies Partial<ModalProps>,
    },
    Tooltip: {
      defaultProps: {
        withArrow: true,
        openDelay: 200,
        events: { hover: true, focus: true, touch: true },
      } satisfies Partial<TooltipProps>,
    },
  },
})
