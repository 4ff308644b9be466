-- A session of Neovim with the language server: what it shows and does goes to the file OUT, as JSON.
local plan, execplan, out = vim.env.PLAN, vim.split(vim.env.EXECPLAN, "\n"), vim.env.OUT
local result = { messages = {} }
vim.o.autoread = true
vim.o.swapfile = false
vim.cmd("edit " .. vim.fn.fnameescape(plan))
local buffer = vim.api.nvim_get_current_buf()
vim.lsp.handlers["window/showMessage"] = function(_, shown)
  table.insert(result.messages, shown.message)
end

local function run()
  local command = vim.list_extend(vim.deepcopy(execplan), { "lsp" })
  local id = vim.lsp.start_client({ cmd = command, root_dir = vim.fn.getcwd(), name = "execplan" })
  vim.lsp.buf_attach_client(buffer, id)
  local client = vim.lsp.get_client_by_id(id)

  local function wait(what, condition)
    if not vim.wait(30000, condition, 10) then
      error("waited in vain for " .. what)
    end
  end
  local function codes()
    return vim.tbl_map(function(found)
      return found.code
    end, vim.diagnostic.get(buffer))
  end
  local function lines()
    return vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  end
  local function line_of(text)
    for number, line in ipairs(lines()) do
      if line:find(text, 1, true) then
        return number - 1
      end
    end
    error("no line has " .. text)
  end
  local function request(method, parameters)
    parameters.textDocument = vim.lsp.util.make_text_document_params(buffer)
    local answers, problem = vim.lsp.buf_request_sync(buffer, method, parameters, 30000)
    assert(not problem, problem)
    assert(not answers[id].err, vim.inspect(answers[id].err))
    return answers[id].result
  end
  local function at(text, offset)
    return { position = { line = line_of(text), character = offset } }
  end
  local function execplan_edits(...)
    result.agent = vim.fn.system(vim.list_extend(vim.deepcopy(execplan), { ... }))
    assert(vim.v.shell_error == 0, result.agent)
  end
  local function check_off(text)
    for _, lens in ipairs(request("textDocument/codeLens", {})) do
      if lens.command.title == "Check off" and lens.range.start.line == line_of(text) then
        client.request_sync("workspace/executeCommand", {
          command = lens.command.command,
          arguments = lens.command.arguments,
        }, 30000, buffer)
        return
      end
    end
    error("no lens to check off " .. text)
  end

  wait("the first findings", function()
    return vim.lsp.buf_get_clients(buffer)[id] ~= nil and client.initialized
  end)
  -- Typing brings a finding, and the quick fix takes it away.
  local task = line_of("Write the tests")
  vim.api.nvim_buf_set_lines(buffer, task, task + 1, false, { "-[ ] Write the 🚀 tests.  " })
  wait("a finding", function()
    return vim.tbl_contains(codes(), "EP206")
  end)
  result.typed = codes()
  local actions = request("textDocument/codeAction", {
    range = { start = { line = task, character = 0 }, ["end"] = { line = task, character = 0 } },
    context = { diagnostics = {} },
  })
  for _, action in ipairs(actions) do
    if action.title == "Fix EP206" then
      vim.lsp.util.apply_workspace_edit(action.edit, client.offset_encoding)
    end
  end
  result.fixed = lines()[task + 1]
  result.hover = request("textDocument/hover", at("## Progress", 4)).contents.value
  result.completion = vim.tbl_map(function(item)
    return item.label
  end, request("textDocument/completion", at("- [ ] Build", 0)) or {})
  -- An agent checks off a task on disk while the text in the editor is not saved.
  execplan_edits("done", "2")
  check_off("Write the 🚀 tests")
  wait("the edit of the server", function()
    return lines()[task + 1]:find("[x]", 1, true) ~= nil
  end)
  result.unsaved = lines()[task + 1]
  result.on_disk = vim.fn.readfile(plan)
  -- The person takes the version on disk; then both work on saved text.
  vim.cmd("edit!")
  vim.lsp.buf_attach_client(buffer, id) -- as the autocommand of a configuration does
  wait("no findings", function()
    return #codes() == 0
  end)
  check_off("Write the tests")
  wait("the written file", function()
    return table.concat(vim.fn.readfile(plan), "\n"):find("%[x%] %S+ %S+ Write the tests") ~= nil
  end)
  vim.cmd("checktime")
  vim.lsp.buf_attach_client(buffer, id)
  result.reloaded = lines()
  execplan_edits("reopen", "3")
  vim.cmd("checktime")
  vim.lsp.buf_attach_client(buffer, id)
  wait("the lens of the task that the agent reopened", function()
    local lenses = request("textDocument/codeLens", {})
    return lenses[1] ~= nil and lenses[1].command.title == "2 of 3 tasks done, go to the next"
  end)
  result.modified = vim.bo.modified
  client.stop()
  wait("the end of the server", function()
    return client.is_stopped()
  end)
end

local ok, problem = pcall(run)
result.problem = not ok and tostring(problem) or nil
vim.fn.writefile({ vim.json.encode(result) }, out)
vim.cmd("qall!")
