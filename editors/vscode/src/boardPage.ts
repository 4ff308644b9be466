// A page of the server as the webview shows it: without scripts and forms, and with links that the extension follows.

export interface Frame {
  /** The style sheet of the server. */
  style: string;
  /** The images of the page, as data URLs by their paths. */
  images: ReadonlyMap<string, string>;
  isDark: boolean;
  /** A random text that only our own style sheet has. */
  nonce: string;
  /** The command that opens a page. */
  command: string;
}

const IMAGE = /(<img[^>]* src=)"(\/[^"]*)"/g;
const LINK = /(<a[^>]* href=)"(\/[^"]*)"/g;
const PLAN_PATH = /<header class="plan-header">\s*<p class="path">([^<]*)<\/p>/;

/** Return the paths of the images that a page shows. */
export function imagePaths(page: string): string[] {
  return [...page.matchAll(IMAGE)].map((match) => unescapeHtml(match[2] ?? ""));
}

/** Return the path of the plan's file that its page shows, or undefined. */
export function planPath(page: string): string | undefined {
  const path = PLAN_PATH.exec(page)?.[1];
  return path === undefined ? undefined : unescapeHtml(path);
}

/** Return a page for the webview. */
export function renderPage(page: string, frame: Frame): string {
  const body = /<body[^>]*>([\s\S]*)<\/body>/.exec(page)?.[1] ?? escapeHtml(page);
  const links = body.replace(LINK, (_, start: string, path: string) => {
    const argument = encodeURIComponent(JSON.stringify([unescapeHtml(path)]));
    return `${start}"command:${frame.command}?${argument}"`;
  });
  const content = links.replace(IMAGE, (_, start: string, path: string) => {
    return `${start}"${frame.images.get(unescapeHtml(path)) ?? ""}"`;
  });
  const policy = `default-src 'none'; style-src 'nonce-${frame.nonce}'; img-src data:`;
  return `<!doctype html>
<html lang="en" data-theme="${frame.isDark ? "dark" : "light"}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<style nonce="${frame.nonce}">${frame.style}
body { padding: 0 }</style>
</head>
<body>${content}</body>
</html>`;
}

/** Return a page that shows why there is no other. */
export function messagePage(message: string): string {
  return `<body><main id="page-main"><h1>No board</h1><p>${escapeHtml(message)}</p></main></body>`;
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

const CHARACTERS: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', amp: "&" };

function unescapeHtml(text: string): string {
  return text.replace(/&(?:#(\d+)|(lt|gt|quot|amp));/g, (_, code: string | undefined, name: string | undefined) =>
    code === undefined ? (CHARACTERS[name ?? ""] ?? "") : String.fromCodePoint(Number(code)),
  );
}
