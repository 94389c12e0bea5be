/** No image, no script, nothing that is fetched: what a mail program shows at once, and what a phone shows too. */
export const htmlLayout = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>{{heading}}</title></head>
<body style="margin:0;padding:24px;background:#f5f5f7;color:#1d1d1f;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif">
<div style="max-width:560px;margin:0 auto;padding:24px;background:#fff;border-radius:8px">
<h1 style="margin:0 0 16px;font-size:20px">{{heading}}</h1>
{{#paragraphs}}
<p style="margin:0 0 12px">{{.}}</p>
{{/paragraphs}}
{{#hasLines}}
<table style="width:100%;border-collapse:collapse;margin:16px 0">
{{#lines}}
<tr><td style="padding:6px 0;border-bottom:1px solid #e5e5ea">{{name}} × {{quantity}}</td><td style="padding:6px 0;border-bottom:1px solid #e5e5ea;text-align:right">{{amount}}</td></tr>
{{/lines}}
<tr><td style="padding:6px 0"><strong>Total</strong></td><td style="padding:6px 0;text-align:right"><strong>{{total}}</strong></td></tr>
</table>
{{/hasLines}}
{{#link}}
<p style="margin:20px 0"><a href="{{link}}" style="display:inline-block;padding:10px 18px;background:#0b57d0;color:#fff;border-radius:6px;text-decoration:none">{{button}}</a></p>
{{/link}}
<p style="margin:24px 0 0;color:#6e6e73;font-size:13px">{{account}}</p>
</div>
</body>
</html>
`;

export const textLayout = `{{heading}}

{{#paragraphs}}
{{.}}

{{/paragraphs}}
{{#hasLines}}
{{#lines}}
{{name}} × {{quantity}}: {{amount}}
{{/lines}}
Total: {{total}}

{{/hasLines}}
{{#link}}
{{button}}: {{link}}

{{/link}}
-- 
{{account}}
`;
