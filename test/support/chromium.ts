import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, type BrowserContext, chromium } from 'playwright-core'

/** Who looks at a page, and with what. */
export interface Visitor {
  /** Default 1280. */
  readonly width?: number
  /** Default 900. */
  readonly height?: number
  /** Default light. */
  readonly theme?: 'light' | 'dark'
  /** Zone of the browser; default America/Santo_Domingo. */
  readonly zone?: string
  /** Language of the browser; default en-US. */
  readonly locale?: string
  /** A browser that runs no script, as Tor Browser's strictest level; default false. */
  readonly isScriptless?: boolean
  /** Cookies and storage of an earlier visit; default none. */
  readonly storageState?: Awaited<ReturnType<BrowserContext['storageState']>>
}

/** The first is Chromium without the window around a page: a third of the work for each page. */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']

/**
 * Parts of the window around a page that Chromium draws as separate pages, or loads ahead. Nobody sees them without a screen, and they
 * take more than half of the work for each new page. Names that a version lacks change nothing.
 */
const WINDOW_FEATURES = [
  ...['Glic', 'InitialWebUI', 'SidePanel', 'WebUIBrowser', 'WebUIToolbar', 'WebUIToolbarWebView'],
  ...['WebUIReloadButton', 'WebUIReloadButtonPrewarmWebUI', 'WebUIHomeButton', 'WebUIBackForwardButtons'],
  ...['WebUILocationBar', 'WebUIAvatarButton', 'WebUISplitTabsButton', 'TabSearchPositionSetting'],
  ...['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup'],
  ...['PreloadTopChromeWebUI', 'PreloadTopChromeWebUILessNavigations'],
]
/**
 * What Playwright switches off for tests: of two such lists Chromium takes the last, which is ours
 * (playwright-core, `packages/playwright-core/src/server/chromium/chromiumSwitches.ts`).
 */
const PLAYWRIGHT_FEATURES = [
  ...['AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose', 'HttpsUpgrades', 'LensOverlay'],
  ...['HttpsFirstBalancedModeAutoEnable', 'MediaRouter', 'PaintHolding', 'ThirdPartyStoragePartitioning'],
  ...['AvoidCorsURLLoaderRestartOnRedirect', 'OptimizationHints', 'NetworkTimeServiceQuerying', 'AimEnabled'],
  'PreconnectToSearch',
]

/** Starts the Chromium of this machine with a new profile and these additional arguments. Throws when none is on the PATH. */
export async function launchChromium(additional: readonly string[] = []): Promise<Browser> {
  return await chromium.launch({
    executablePath: findChromium(),
    args: [
      // Without these it does not start as root and in containers with little shared memory.
      ...['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--force-color-profile=srgb'],
      ...additional,
      `--disable-features=${[...PLAYWRIGHT_FEATURES, ...WINDOW_FEATURES].join(',')}`,
    ],
  })
}

function findChromium(): string {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    for (const name of NAMES) {
      const path = join(folder, name)
      try {
        accessSync(path, constants.X_OK)
        return path
      } catch {
        // Not there: the next one.
      }
    }
  }
  throw new Error(
    `no browser on the PATH: install Debian's package chromium-headless-shell or chromium (looked for ${NAMES.join(', ')})`,
  )
}

/** A visitor's browser: no history, no cookies. */
export async function newContext(browser: Browser, options: Visitor): Promise<BrowserContext> {
  return await browser.newContext({
    viewport: { width: options.width ?? 1280, height: options.height ?? 900 },
    colorScheme: options.theme ?? 'light',
    timezoneId: options.zone ?? 'America/Santo_Domingo',
    locale: options.locale ?? 'en-US',
    reducedMotion: 'reduce',
    javaScriptEnabled: options.isScriptless !== true,
    ...(options.storageState !== undefined && { storageState: options.storageState }),
  })
}
